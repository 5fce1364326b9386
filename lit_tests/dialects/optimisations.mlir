// RUN: xdsl-opt %s -p licm | filecheck %s --check-prefix=LICM
// RUN: xdsl-opt %s -p cse | filecheck %s --check-prefix=CSE
// RUN: xdsl-opt %s -p dce | filecheck %s --check-prefix=DCE
// RUN: xdsl-opt %s -p canonicalize | filecheck %s --check-prefix=CANON

// What stock passes of xDSL make of fused ops.

// Definitions and bindings stay.

xfuse.library @family {
  xfuse.recipe @exp(%x: f32) -> f32 {
    %r = math.exp %x : f32
    xfuse.yield %r : f32
  }
}
xfuse.recipe @abs(%x: f32) -> f32 {
  %r = math.absf %x : f32
  xfuse.yield %r : f32
}
xfuse.binding @abs (f32) -> f32 on "numpy"

// CSE:   xfuse.recipe @exp
// CSE:   xfuse.recipe @abs
// CSE:   xfuse.binding @abs (f32) -> f32 on "numpy"
// DCE:   xfuse.recipe @exp
// DCE:   xfuse.recipe @abs
// DCE:   xfuse.binding @abs (f32) -> f32 on "numpy"
// CANON: xfuse.recipe @exp
// CANON: xfuse.recipe @abs
// CANON: xfuse.binding @abs (f32) -> f32 on "numpy"

// A loop may run zero times: what may trap stays in it, however deep it lies; the rest is hoisted.

func.func @loop(%lb: index, %ub: index, %step: index, %a: i32, %b: i32, %x: f32) -> f32 {
  %r = scf.for %i = %lb to %ub step %step iter_args(%acc = %x) -> (f32) {
    %division = xfuse.fused (%l = %a : i32, %m = %b : i32) -> i32 {
      %quotient = arith.divsi %l, %m : i32
      %sum = arith.addi %quotient, %m : i32
      xfuse.yield %sum : i32
    }
    %sum = xfuse.fused (%l = %x : f32) -> f32 {
      %twice = arith.addf %l, %l : f32
      xfuse.yield %twice : f32
    }
    %nested = xfuse.fused (%l = %a : i32) -> i32 {
      %inner = xfuse.fused (%m = %l : i32) -> i32 {
        %rest = arith.remui %m, %m : i32
        xfuse.yield %rest : i32
      }
      xfuse.yield %inner : i32
    }
    %power = xfuse.fused (%l = %a : i32) -> i32 {
      %powered = math.ipowi %l, %l : i32
      xfuse.yield %powered : i32
    }
    %unknown = xfuse.fused (%l = %a : i32) -> i32 {
      %c = "test.pureop"(%l) : (i32) -> i32
      xfuse.yield %c : i32
    }
    "test.op"(%division, %nested, %power, %unknown) : (i32, i32, i32, i32) -> ()
    %next = arith.addf %acc, %sum : f32
    scf.yield %next : f32
  }
  func.return %r : f32
}

// LICM:      func.func @loop
// LICM-NEXT:   %[[SUM:.*]] = xfuse.fused (%l = %x : f32) -> f32 {
// LICM-NEXT:     arith.addf
// LICM:        %[[UNKNOWN:.*]] = xfuse.fused (%l = %a : i32) -> i32 {
// LICM-NEXT:     "test.pureop"
// LICM:        scf.for
// LICM-NEXT:     %[[DIVISION:.*]] = xfuse.fused (%l = %a : i32, %m = %b : i32) -> i32 {
// LICM-NEXT:       arith.divsi
// LICM:          %[[NESTED:.*]] = xfuse.fused (%l = %a : i32) -> i32 {
// LICM-NEXT:       xfuse.fused
// LICM-NEXT:         arith.remui
// LICM:          %[[POWER:.*]] = xfuse.fused (%l = %a : i32) -> i32 {
// LICM-NEXT:       math.ipowi
// LICM:          "test.op"(%[[DIVISION]], %[[NESTED]], %[[POWER]], %[[UNKNOWN]])
// LICM-NEXT:     arith.addf %acc, %[[SUM]]

// A fused op of which no result is used goes, also one that holds linalg ops, which xDSL does not know to be pure.

func.func @dead(%x: f32, %t: tensor<4xf32>) -> f32 {
  %one = xfuse.fused (%a = %x : f32) -> f32 {
    %r = math.exp %a : f32
    xfuse.yield %r : f32
  }
  %two = xfuse.fused (%a = %t : tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    xfuse.yield %r : tensor<4xf32>
  }
  %three:2 = xfuse.fused (%a = %x : f32) -> (f32, f32) {
    %r = math.exp %a : f32
    %s = math.log %a : f32
    xfuse.yield %r, %s : f32, f32
  }
  func.return %three#1 : f32
}

// DCE:        func.func @dead
// DCE-NEXT:     %three, %three_1 = xfuse.fused
// DCE-NEXT:       math.exp
// DCE-NEXT:       math.log
// DCE-NEXT:       xfuse.yield
// DCE-NEXT:     }
// DCE-NEXT:     func.return %three_1 : f32
// CANON:      func.func @dead
// CANON-NEXT:   %three, %three_1 = xfuse.fused
// CSE:        func.func @dead
// CSE-NEXT:     %three, %three_1 = xfuse.fused

// Two fused ops are one if label, operands and regions are the same.

func.func @equal(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32) {
  %1 = xfuse.fused @abs (%a = %x : f32) -> f32 {
    %r = math.absf %a : f32
    xfuse.yield %r : f32
  }
  %2 = xfuse.fused @abs (%b = %x : f32) -> f32 {
    %s = math.absf %b : f32
    xfuse.yield %s : f32
  }
  %3 = xfuse.fused @abs (%a = %y : f32) -> f32 {
    %r = math.absf %a : f32
    xfuse.yield %r : f32
  }
  %4 = xfuse.fused @abs (%a = %x : f32) -> f32 {
    %r = math.sqrt %a : f32
    xfuse.yield %r : f32
  }
  %5 = xfuse.fused @other (%a = %x : f32) -> f32 {
    %r = math.absf %a : f32
    xfuse.yield %r : f32
  }
  func.return %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32
}

// CSE:       func.func @equal
// CSE-NEXT:    %0 = xfuse.fused @abs (%a = %x : f32)
// CSE-COUNT-3: xfuse.fused
// CSE:         func.return %0, %0, %1, %2, %3

// Passes work inside regions too, and leave them whole.

func.func @inside(%x: i32) -> i32 {
  %r = xfuse.fused (%a = %x : i32) -> i32 {
    %zero = arith.constant 0 : i32
    %s = arith.addi %a, %zero : i32
    %unused = arith.muli %a, %a : i32
    xfuse.yield %s : i32
  }
  func.return %r : i32
}

// CANON:      func.func @inside
// CANON-NEXT:   %r = xfuse.fused (%a = %x : i32) -> i32 {
// CANON-NEXT:     xfuse.yield %a : i32
// CANON-NEXT:   }
