// murmur_mix(x, seed): the finaliser of MurmurHash3 on 32 bits, of x exclusive-or seed
//
// @murmur_mix        textbook and JAX
// @murmur_mix_plain  without a seed
xfuse.library @murmur_mix {
  xfuse.recipe @murmur_mix(%x: i32, %seed: i32) -> i32 {
    %mixed = arith.xori %x, %seed : i32
    %sixteen = arith.constant 16 : i32
    %shifted = arith.shrui %mixed, %sixteen : i32
    %mixed_1 = arith.xori %mixed, %shifted : i32
    %first = arith.constant -2048144789 : i32
    %product = arith.muli %mixed_1, %first : i32
    %thirteen = arith.constant 13 : i32
    %shifted_1 = arith.shrui %product, %thirteen : i32
    %mixed_2 = arith.xori %product, %shifted_1 : i32
    %second = arith.constant -1028477387 : i32
    %product_1 = arith.muli %mixed_2, %second : i32
    %shifted_2 = arith.shrui %product_1, %sixteen : i32
    %mixed_3 = arith.xori %product_1, %shifted_2 : i32
    xfuse.yield %mixed_3 : i32
  }

  xfuse.recipe @murmur_mix_plain(%x: i32) -> i32 {
    %sixteen = arith.constant 16 : i32
    %shifted = arith.shrui %x, %sixteen : i32
    %mixed = arith.xori %x, %shifted : i32
    %first = arith.constant -2048144789 : i32
    %product = arith.muli %mixed, %first : i32
    %thirteen = arith.constant 13 : i32
    %shifted_1 = arith.shrui %product, %thirteen : i32
    %mixed_1 = arith.xori %product, %shifted_1 : i32
    %second = arith.constant -1028477387 : i32
    %product_1 = arith.muli %mixed_1, %second : i32
    %shifted_2 = arith.shrui %product_1, %sixteen : i32
    %mixed_2 = arith.xori %product_1, %shifted_2 : i32
    xfuse.yield %mixed_2 : i32
  }
}
