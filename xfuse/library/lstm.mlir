// lstm(input, forget, cell, output, state): the point-wise part of an LSTM cell; gives hidden and new state
//
// state' = sigmoid(forget) state + sigmoid(input) tanh(cell), hidden = sigmoid(output) tanh(state')
//
// @lstm              textbook and PyTorch
// @lstm_forget_bias  JAX with the usual 1 added to the forget gate
xfuse.library @lstm {
  xfuse.recipe @lstm(
      %input: f64, %forget: f64, %cell: f64, %output: f64, %state: f64
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %forget : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %quotient, %state : f64
    %negative_1 = arith.negf %input : f64
    %exponential_1 = math.exp %negative_1 : f64
    %sum_1 = arith.addf %one, %exponential_1 : f64
    %quotient_1 = arith.divf %one, %sum_1 : f64
    %tangent = math.tanh %cell : f64
    %product_1 = arith.mulf %quotient_1, %tangent : f64
    %new_state = arith.addf %product, %product_1 : f64
    %negative_2 = arith.negf %output : f64
    %exponential_2 = math.exp %negative_2 : f64
    %sum_2 = arith.addf %one, %exponential_2 : f64
    %quotient_2 = arith.divf %one, %sum_2 : f64
    %tangent_1 = math.tanh %new_state : f64
    %hidden = arith.mulf %quotient_2, %tangent_1 : f64
    xfuse.yield %hidden, %new_state : f64, f64
  }

  xfuse.recipe @lstm_forget_bias(
      %input: f64, %forget: f64, %cell: f64, %output: f64, %state: f64
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %forget, %one : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %sum_1 = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum_1 : f64
    %product = arith.mulf %quotient, %state : f64
    %negative_1 = arith.negf %input : f64
    %exponential_1 = math.exp %negative_1 : f64
    %sum_2 = arith.addf %one, %exponential_1 : f64
    %quotient_1 = arith.divf %one, %sum_2 : f64
    %tangent = math.tanh %cell : f64
    %product_1 = arith.mulf %quotient_1, %tangent : f64
    %new_state = arith.addf %product, %product_1 : f64
    %negative_2 = arith.negf %output : f64
    %exponential_2 = math.exp %negative_2 : f64
    %sum_3 = arith.addf %one, %exponential_2 : f64
    %quotient_2 = arith.divf %one, %sum_3 : f64
    %tangent_1 = math.tanh %new_state : f64
    %hidden = arith.mulf %quotient_2, %tangent_1 : f64
    xfuse.yield %hidden, %new_state : f64, f64
  }
}
