"""JAX functions that recipes of the library spell, by recipe: gradients, losses, convolutions and stencils.

``python programs.py`` writes ``RECIPE.mlir`` for each, with jax 0.10.2, optax 0.2.8 and iree-opt 3.13 (`PASSES`): JAX
lowers to StableHLO, IREE's input pipeline to linalg.
"""

import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import optax

PASSES = (
    "builtin.module(iree-stablehlo-to-stablehlo-preprocessing,"
    "func.func(chlo-legalize-to-stablehlo,iree-stablehlo-legalize-control-flow,canonicalize,cse),"
    "inline,iree-stablehlo-to-iree-input,canonicalize,cse)"
)

scalar = jnp.float32(0)
column = jnp.zeros(4)
row = jnp.zeros(8)
matrix = jnp.zeros((4, 8))
square = jnp.zeros((16, 16))
labels = jnp.zeros(4, jnp.int32)
four = jnp.zeros(4)


def pull(function):
    """The gradient of the first argument; the last one is the gradient of the result."""

    def gradient(x, *rest):
        return jax.vjp(lambda x: function(x, *rest[:-1]), x)[1](rest[-1])[0]

    return gradient


def layer_norm(x):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5)


def layer_norm_shared(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), -1, keepdims=True) + 1e-5)


def layer_norm_var(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer_norm_sqrt(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def rms_norm(x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6)


def rms_norm_sqrt(x):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def gradients(function):
    """The gradients of all arguments but the last, which is the gradient of the result."""
    return lambda *arguments: jax.vjp(function, *arguments[:-1])[1](arguments[-1])


def parameters(x, gradient):
    return jax.vjp(lambda gamma, beta: layer_norm(x) * gamma + beta, row, row)[1](gradient)


def onehot_cross_entropy(logits, label):
    return -jnp.sum(jax.nn.one_hot(label, 8) * jax.nn.log_softmax(logits), -1)


def smooth_cross_entropy(logits, label):
    targets = 0.9 * jax.nn.one_hot(label, 8) + 0.0125
    return -jnp.sum(targets * jax.nn.log_softmax(logits), -1)


def focal(logit, label):
    p = jax.nn.sigmoid(logit)
    entropy = jnp.maximum(logit, 0) - logit * label + jnp.log1p(jnp.exp(-jnp.abs(logit)))
    return entropy * (1 - (p * label + (1 - p) * (1 - label))) ** 2


def convolve(x, weight, bias, count=4):
    length = x.shape[-1] - count + 1
    return sum(weight[..., k] * x[..., k : k + length] for k in range(count)) + bias


def padded(x):
    return jnp.pad(x, ((0, 0), (3, 0)))


def laplacian(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def distillation(student, teacher):
    log_q = jax.nn.log_softmax(student / 2.0, axis=-1)
    log_p = jax.nn.log_softmax(teacher / 2.0, axis=-1)
    return 4.0 * jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=-1)


def huber(x, y):
    distance = jnp.abs(x - y)
    return jnp.where(distance <= 1.0, 0.5 * (x - y) ** 2, distance - 0.5).mean()


PROGRAMS = {
    # Element-wise
    "powi_cube": (lambda x: x**3, [matrix]),
    "powi_fourth": (lambda x: x**4, [matrix]),
    "powi_backward_square": (pull(lambda x: x**2), [matrix, matrix]),
    "powi_backward_cube": (pull(lambda x: x**3), [matrix, matrix]),
    "powi_backward_fourth": (pull(lambda x: x**4), [matrix, matrix]),
    "relu_backward": (pull(jax.nn.relu), [matrix, matrix]),
    "relu_backward_maximum": (pull(lambda x: jnp.maximum(x, 0)), [matrix, matrix]),
    "sigmoid_backward_jax": (pull(jax.nn.sigmoid), [matrix, matrix]),
    "silu_backward_jax": (pull(jax.nn.silu), [matrix, matrix]),
    "gelu_tanh_backward_jax": (pull(jax.nn.gelu), [matrix, matrix]),
    "softplus_backward_jax": (pull(jax.nn.softplus), [matrix, matrix]),
    "bce_with_logits_backward_jax": (pull(lambda x, y: jax.nn.softplus(x) - y * x), [matrix] * 3),
    "mse_loss_backward_jax": (pull(lambda x, y: jnp.mean((x - y) ** 2)), [matrix, matrix, scalar]),
    # Rows
    "softmax_backward_jax": (pull(jax.nn.softmax), [matrix, matrix]),
    "log_softmax_backward_jax": (pull(jax.nn.log_softmax), [matrix, matrix]),
    "logsumexp_backward_jax": (pull(lambda x: jax.nn.logsumexp(x, -1)), [matrix, column]),
    "layer_norm_backward_jax": (pull(layer_norm), [matrix, matrix]),
    "layer_norm_backward_jax_shared": (pull(layer_norm_shared), [matrix, matrix]),
    "layer_norm_backward_jax_var": (pull(layer_norm_var), [matrix, matrix]),
    "layer_norm_backward_jax_sqrt": (pull(layer_norm_sqrt), [matrix, matrix]),
    "layer_norm_affine_backward_jax": (pull(lambda x, gamma: layer_norm(x) * gamma + 0.5), [matrix, row, matrix]),
    "layer_norm_affine_backward_jax_shared": (
        pull(lambda x, gamma: layer_norm_shared(x) * gamma + 0.5),
        [matrix, row, matrix],
    ),
    "layer_norm_parameters_backward_jax": (parameters, [matrix, matrix]),
    "layer_norm_affine_gradients_jax": (
        lambda x, gamma, g: jax.vjp(lambda x, gamma, beta: layer_norm(x) * gamma + beta, x, gamma, row)[1](g),
        [matrix, row, matrix],
    ),
    "layer_norm_affine_gradients_jax_shared": (
        lambda x, gamma, g: jax.vjp(lambda x, gamma, beta: layer_norm_shared(x) * gamma + beta, x, gamma, row)[1](g),
        [matrix, row, matrix],
    ),
    "rms_norm_weighted_gradients_jax": (gradients(lambda x, weight: rms_norm(x) * weight), [matrix, row, matrix]),
    "rms_norm_backward_jax": (pull(rms_norm), [matrix, matrix]),
    "rms_norm_backward_jax_sqrt": (pull(rms_norm_sqrt), [matrix, matrix]),
    "rms_norm_weighted_backward_jax": (pull(lambda x, weight: rms_norm(x) * weight), [matrix, row, matrix]),
    "rms_norm_weight_backward_jax": (
        lambda x, gradient: jax.vjp(lambda weight: rms_norm(x) * weight, row)[1](gradient)[0],
        [matrix, matrix],
    ),
    "reduce_max_backward_jax": (pull(lambda x: x.max(-1)), [matrix, column]),
    "reduce_min_backward_jax": (pull(lambda x: x.min(-1)), [matrix, column]),
    "softmax_cross_entropy": (optax.softmax_cross_entropy, [matrix, matrix]),
    "softmax_cross_entropy_label_onehot": (onehot_cross_entropy, [matrix, labels]),
    "softmax_cross_entropy_label_smooth": (smooth_cross_entropy, [matrix, labels]),
    "softmax_cross_entropy_backward_jax": (pull(optax.softmax_cross_entropy), [matrix, matrix, column]),
    "softmax_cross_entropy_backward_label_onehot": (pull(onehot_cross_entropy), [matrix, labels, column]),
    "cross_entropy_loss": (lambda x, t: -jnp.mean(jnp.sum(t * jax.nn.log_softmax(x), -1)), [matrix, matrix]),
    "cross_entropy_loss_mean": (lambda x, t: optax.softmax_cross_entropy(x, t).mean(), [matrix, matrix]),
    "cross_entropy_loss_label": (
        lambda x, t: -jnp.mean(jnp.sum(jax.nn.one_hot(t, 8) * jax.nn.log_softmax(x), -1)),
        [matrix, labels],
    ),
    # Everything
    "mse_loss": (lambda x, y: jnp.mean((x - y) ** 2), [matrix, matrix]),
    "mse_loss_half": (lambda x, y: optax.l2_loss(x, y).mean(), [matrix, matrix]),
    "mae_loss": (lambda x, y: jnp.mean(jnp.abs(x - y)), [matrix, matrix]),
    "huber_loss_one": (huber, [matrix, matrix]),
    "huber_loss_optax": (lambda x, y: optax.huber_loss(x, y, delta=0.75).mean(), [matrix, matrix]),
    "huber_loss_optax_one": (lambda x, y: optax.huber_loss(x, y).mean(), [matrix, matrix]),
    "kl_divergence_optax": (optax.kl_divergence, [matrix, matrix]),
    "kl_divergence_probabilities": (lambda p, q: jnp.sum(p * jnp.log(p / q), -1), [matrix, matrix]),
    "kl_divergence_xlogy": (lambda q, p: jnp.sum(jax.scipy.special.xlogy(p, p) - p * q, -1), [matrix, matrix]),
    "kl_divergence_logits": (distillation, [matrix, matrix]),
    "kl_loss": (lambda q, p: jnp.sum(jnp.exp(p) * (p - q)), [matrix, matrix]),
    "focal_loss_square": (lambda x, y: focal(x, y).mean(), [matrix, matrix]),
    "focal_loss_alpha": (lambda x, y: ((0.25 * y + 0.75 * (1 - y)) * focal(x, y)).mean(), [matrix, matrix]),
    "sum_of_squares": (lambda x: jnp.sum(x * x), [matrix]),
    "global_norm": (jnp.linalg.norm, [matrix]),
    "clip_by_global_norm_matrix": (lambda x, m: x * jnp.minimum(1.0, m / jnp.linalg.norm(x)), [matrix, scalar]),
    # Windows
    "causal_conv1d_taps3_jax": (lambda x, w, b: convolve(x, w, b, 3), [row, jnp.zeros(3), scalar]),
    "causal_conv1d_taps4_jax": (convolve, [row, four, scalar]),
    "causal_conv1d_padded_taps4_jax": (lambda x, w, b: convolve(padded(x), w, b), [matrix, four, scalar]),
    "causal_conv1d_silu_taps4_jax": (lambda x, w, b: jax.nn.silu(convolve(x, w, b)), [row, four, scalar]),
    "causal_conv1d_silu_padded_taps4_jax": (
        lambda x, w, b: jax.nn.silu(convolve(padded(x), w[:, None, :], b[:, None])),
        [matrix, jnp.zeros((4, 4)), column],
    ),
    "laplacian_slices": (laplacian, [square]),
    "heat_step_jax": (lambda u, a, t: u + jnp.pad(a * t * laplacian(u), 1), [square, scalar, scalar]),
    "heat_step_padded": (lambda u, rate: u + jnp.pad(rate * laplacian(u), 1), [square, scalar]),
    "heat_step_inner_slices": (lambda u, rate: u[1:-1, 1:-1] + rate * laplacian(u), [square, scalar]),
}

if __name__ == "__main__":
    for name, (function, arguments) in PROGRAMS.items():
        text = str(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))
        command = ["iree-opt", f"--pass-pipeline={PASSES}"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        Path(__file__).with_name(f"{name}.mlir").write_text(done.stdout)
