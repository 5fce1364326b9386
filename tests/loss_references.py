"""Losses, norms, convolutions and stencils of the library: float64 references, as in ``row_references``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from backward_references import (
    EPSILON,
    ROWS,
    UP,
    X,
    between,
    bodies,
    labelled,
    labels,
    log_probabilities,
    matrices,
    probabilities,
)
from row_references import Array, Maker, Reference, Shape, always, log_softmax, rows, silu, units

# Arguments


def with_zeros(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Probabilities, some of them 0."""
    kept = rng.random((*loops, n)) < 0.7
    kept[..., 0] = True
    given = probabilities(rng, loops, n) * kept
    return given / given.sum(-1, keepdims=True)


def row_labels(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """An index into a row for every row of a matrix."""
    return rng.integers(0, n, (*loops, ROWS))


def coins(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Labels of two classes."""
    return rng.integers(0, 2, (*loops, n)).astype(np.float64)


def longer(make: Maker, by: int) -> Maker:
    """Rows with some elements more than n."""
    return lambda rng, loops, n: make(rng, loops, n + by)


def taps(count: int) -> Maker:
    """The weights of a convolution for every item."""
    return lambda rng, loops, n: rng.normal(0.0, 0.5, (*loops, count))


def sheets(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """A matrix of n + 2 columns for every item."""
    return rng.normal(0.5, 2.0, (*loops, ROWS, n + 2))


# Losses and norms


def cross_entropy(logits: Array, target: Array) -> Array:
    return -(target * log_softmax(logits)).sum(-1)


def cross_entropy_loss(logits: Array, target: Array) -> Array:
    return cross_entropy(logits, target).mean(-1)


def difference_loss(loss: Callable[..., Array], divided: bool = True) -> Callable[..., Array]:
    """The mean, or the sum, of a function of the differences over all elements."""
    over = np.mean if divided else np.sum
    return lambda prediction, target, *rest: np.asarray(over(loss(np.abs(prediction - target), *rest)))


def huber(distance: Array, delta: Array | float = 1.0, *rest: Array) -> Array:
    return np.where(distance <= delta, distance**2 / 2, delta * (distance - np.asarray(delta) / 2))


def smooth_l1(distance: Array, beta: Array, *rest: Array) -> Array:
    return np.where(distance < beta, distance**2 / (2 * beta), distance - beta / 2)


def entropy(p: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(p == 0, 0.0, p * np.log(p))


def relative_entropy(log_prediction: Array, target: Array) -> Array:
    """Term by term, of log q and p."""
    return entropy(target) - target * log_prediction


def kl_logits(student: Array, teacher: Array, temperature: Array, factor: Array) -> Array:
    p = log_softmax(teacher / temperature)
    return factor * (np.exp(p) * (p - log_softmax(student / temperature))).sum(-1)


def focal(logit: Array, label: Array, gamma: Array | float = 2.0, alpha: Array | None = None) -> Array:
    p = 1 / (1 + np.exp(-logit))
    right = np.where(label == 1, p, 1 - p)
    balance = 1.0 if alpha is None else np.where(label == 1, alpha, 1 - alpha)
    return -balance * np.log(right) * (1 - right) ** gamma


def clip_by_global_norm(x: Array, limit: Array, epsilon: Array | float = 0.0, axes: Any = -1) -> Array:
    length = np.sqrt((x**2).sum(axes, keepdims=True))
    shape = (*limit.shape, *(1,) * (x.ndim - limit.ndim))
    return x * np.minimum(limit.reshape(shape) / (length + epsilon), 1.0)


# Windows


def convolve(x: Array, weight: Array, bias: Array) -> Array:
    count = weight.shape[-1]
    length = x.shape[-1] - count + 1
    return sum((weight[..., [k]] * x[..., k : k + length] for k in range(count)), bias[..., None])


def padded(function: Callable[..., Array]) -> Callable[..., Array]:
    """Of rows with zeros before their first element."""
    return lambda x, weight, bias: function(
        np.concatenate([np.zeros((*x.shape[:-1], weight.shape[-1] - 1)), x], -1), weight, bias
    )


def convolve_magnitude(x: Array, weight: Array, bias: Array) -> Array:
    """The sum of the terms, which may cancel."""
    return convolve(np.abs(x), np.abs(weight), np.abs(bias))


def convolve_silu(x: Array, weight: Array, bias: Array) -> Array:
    return silu(convolve(x, weight, bias))


def laplacian(u: Array) -> Array:
    inner = u[..., 1:-1, 1:-1]
    return u[..., :-2, 1:-1] + u[..., 2:, 1:-1] + u[..., 1:-1, :-2] + u[..., 1:-1, 2:] - 4 * inner


def heat_inner(u: Array, rate: Array) -> Array:
    return u[..., 1:-1, 1:-1] + rate[..., None, None] * laplacian(u)


def heat_step(u: Array, rate: Array, *more: Array) -> Array:
    for each in more:
        rate = rate * each
    result = u.copy()
    result[..., 1:-1, 1:-1] = heat_inner(u, rate)
    return result


def heat_periodic(u: Array, rate: Array) -> Array:
    around = sum(np.roll(u, shift, axis) for shift in (1, -1) for axis in (-1, -2))
    return u + rate[..., None, None] * (around - 4 * u)


def whole(u: Array, *rates: Array) -> Array:
    """The largest element of a matrix, of which neighbours may cancel."""
    return 8 * np.abs(u).max((-1, -2), keepdims=True)


# Magnitudes


def logits_magnitude(logits: Array, *rest: Array) -> Array:
    """Of logits beside their differences, which are rounded."""
    return 2 * np.abs(logits).max(-1) + np.log(logits.shape[-1]) + 1.0


def targets_magnitude(logits: Array, target: Array, *rest: Array) -> Array:
    return logits_magnitude(logits) * np.maximum(np.abs(target).sum(-1), 1.0)


def smoothed_magnitude(logits: Array, label: Array, keep: Array, rest: Array) -> Array:
    return logits_magnitude(logits) * (keep + rest * logits.shape[-1])


def matrix_magnitude(logits: Array, *rest: Array) -> Array:
    return logits_magnitude(logits).max(-1)


def logit_sizes(logit: Array, *rest: Array) -> Array:
    """Of losses of logits, where 1 - p may cancel."""
    return np.asarray(np.mean(1 + np.abs(logit)))


def entropy_magnitude(x: Array, y: Array, *rest: Array) -> Array:
    return (1 + np.abs(np.where(np.isfinite(x), x, 0.0))).max(-1)


def all_entropies_magnitude(x: Array, y: Array) -> Array:
    return np.asarray((1 + np.abs(x)).sum())


# The table

TEMPERED = (rows(), rows(), always(2.0), always(4.0))
PAIR = (rows(), rows())

_CROSS = Reference(cross_entropy, (X, probabilities), units(3), targets_magnitude)
_LABEL = Reference(labelled(cross_entropy), (X, labels), units(3), logits_magnitude)
_CROSS_LOSS = Reference(cross_entropy_loss, (matrices(X), matrices(probabilities)), units(4), matrix_magnitude)
_MSE = Reference(difference_loss(np.square), PAIR, units(6))
_MAE = Reference(difference_loss(np.abs), PAIR, units(6))
_HUBER = Reference(difference_loss(huber), (*PAIR, always(0.75)), units(6))
_HUBER_ONE = replace(_HUBER, makers=PAIR)
_SMOOTH = Reference(difference_loss(smooth_l1), (*PAIR, always(0.5)), units(6))
_KL = Reference(
    lambda q, p: (np.exp(p) * (p - q)).sum(-1), (log_probabilities, log_probabilities), units(3), entropy_magnitude
)
_KL_P = Reference(
    lambda q, p: relative_entropy(q, p).sum(-1), (log_probabilities, with_zeros), units(3), entropy_magnitude
)
_KL_LOSS = Reference(
    lambda q, p: np.asarray((np.exp(p) * (p - q)).sum()),
    (log_probabilities, log_probabilities),
    units(2),
    all_entropies_magnitude,
)
_FOCAL = Reference(lambda *given: np.asarray(focal(*given).mean()), (X, coins, always(1.5)), units(4), logit_sizes)
_SQUARES = Reference(lambda x: np.asarray((x**2).sum()), (X,), units(3))
_NORM = Reference(lambda x: np.asarray(np.sqrt((x**2).sum())), (X,), units(3))
_CLIP = Reference(clip_by_global_norm, (X, between(0.5, 4.0)), units(6))
_CONVOLUTION = Reference(convolve, (longer(X, 3), taps(4), UP), units(6), convolve_magnitude)
_SILU = replace(_CONVOLUTION, function=convolve_silu, tolerance=units(8))
_LAPLACIAN = Reference(laplacian, (sheets,), units(2), whole)
_HEAT = Reference(heat_step, (sheets, between(0.1, 0.25)), units(1), whole)


def _padded(reference: Reference) -> Reference:
    magnitude = reference.magnitude
    assert magnitude is not None
    return replace(reference, function=padded(reference.function), makers=(X, taps(4), UP), magnitude=padded(magnitude))


REFERENCES: dict[str, Reference] = {
    **bodies(
        "softmax_cross_entropy",
        _CROSS,
        "_logsumexp",
        label=_LABEL,
        label_long=_LABEL,
        label_select=_LABEL,
        label_onehot=_LABEL,
        label_smooth=replace(_LABEL, makers=(X, labels, always(0.875), always(0.0625)), magnitude=smoothed_magnitude),
    ),
    **bodies(
        "cross_entropy_loss",
        _CROSS_LOSS,
        "_mean",
        label=replace(_CROSS_LOSS, function=labelled(cross_entropy_loss), makers=(matrices(X), row_labels)),
        smooth=replace(
            _CROSS_LOSS,
            function=labelled(cross_entropy_loss),
            makers=(matrices(X), row_labels, always(0.875), always(0.0625)),
            magnitude=lambda x, label, keep, rest: matrix_magnitude(x) * (keep + rest * x.shape[-1]),
        ),
    ),
    **bodies(
        "mse_loss",
        _MSE,
        sum=replace(_MSE, function=difference_loss(np.square, False)),
        half=replace(_MSE, function=difference_loss(lambda d: d**2 / 2)),
    ),
    **bodies(
        "mae_loss",
        _MAE,
        sum=replace(_MAE, function=difference_loss(np.abs, False)),
    ),
    **bodies(
        "huber_loss",
        _HUBER,
        "_optax",
        sum=replace(_HUBER, function=difference_loss(huber, False)),
        jax=replace(_HUBER, makers=(*_HUBER.makers, always(0.375))),
        one=_HUBER_ONE,
        optax_one=_HUBER_ONE,
    ),
    **bodies("smooth_l1_loss", _SMOOTH, torch=replace(_SMOOTH, makers=(*_SMOOTH.makers, always(0.25), always(0.5)))),
    **bodies(
        "kl_divergence",
        _KL,
        probabilities=Reference(
            lambda p, q: (p * np.log(p / q)).sum(-1),
            (probabilities, probabilities),
            units(4),
            lambda p, q: (p * (1 + np.abs(np.log(p / q)))).sum(-1),
        ),
        optax=_KL_P,
        torch=_KL_P,
        xlogy=_KL_P,
        logits=Reference(
            kl_logits, TEMPERED, units(1), lambda s, t, *rest: 4 * (logits_magnitude(s) + logits_magnitude(t))
        ),
    ),
    **bodies(
        "kl_loss",
        _KL_LOSS,
        mean=replace(
            _KL_LOSS,
            function=lambda q, p: np.asarray((np.exp(p) * (p - q)).mean()),
            magnitude=lambda q, p: all_entropies_magnitude(q, p) / q.size,
        ),
        batchmean=Reference(
            lambda q, p: relative_entropy(q, p).sum((-1, -2)) / q.shape[-2],
            (matrices(log_probabilities), matrices(with_zeros)),
            units(2),
            lambda q, p: entropy_magnitude(q, p).max(-1),
        ),
    ),
    **bodies(
        "focal_loss",
        _FOCAL,
        sum=replace(
            _FOCAL,
            function=lambda *given: np.asarray(focal(*given).sum()),
            magnitude=lambda x, *rest: logit_sizes(x) * x.size,
        ),
        square=replace(_FOCAL, makers=(X, coins)),
        alpha=replace(
            _FOCAL,
            function=lambda x, y, alpha, rest: np.asarray(focal(x, y, 2.0, alpha).mean()),
            makers=(X, coins, always(0.25), always(0.75)),
        ),
        torch=replace(
            _FOCAL,
            function=lambda x, y, alpha, rest, gamma: np.asarray(focal(x, y, gamma, alpha).mean()),
            makers=(X, coins, always(0.25), always(0.75), always(3)),
        ),
    ),
    **bodies(
        "sum_of_squares", _SQUARES, "_fpowi", half=replace(_SQUARES, function=lambda x: np.asarray((x**2).sum() / 2))
    ),
    **bodies(
        "global_norm", _NORM, "_torch", mean=replace(_NORM, function=lambda x: np.asarray(np.sqrt((x**2).mean())))
    ),
    **bodies(
        "clip_by_global_norm",
        _CLIP,
        epsilon=replace(_CLIP, makers=(*_CLIP.makers, EPSILON)),
        matrix=replace(
            _CLIP,
            function=lambda x, limit: clip_by_global_norm(x, limit, axes=(-1, -2)),
            makers=(matrices(X), between(0.5, 4.0)),
        ),
        matrix_epsilon=replace(
            _CLIP,
            function=lambda x, limit, epsilon: clip_by_global_norm(x, limit, epsilon, (-1, -2)),
            makers=(matrices(X), between(0.5, 4.0), EPSILON),
        ),
    ),
    **bodies(
        "causal_conv1d",
        _CONVOLUTION,
        "_taps4",
        "_taps4_jax",
        taps2=replace(_CONVOLUTION, makers=(longer(X, 1), taps(2), UP)),
        taps3=replace(_CONVOLUTION, makers=(longer(X, 2), taps(3), UP)),
        taps3_jax=replace(_CONVOLUTION, makers=(longer(X, 2), taps(3), UP)),
        padded=_padded(_CONVOLUTION),
        padded_taps4_jax=_padded(_CONVOLUTION),
    ),
    **bodies(
        "causal_conv1d_silu",
        _SILU,
        "_taps4",
        "_taps4_jax",
        padded=_padded(_SILU),
        padded_taps4_jax=_padded(_SILU),
    ),
    "laplacian": _LAPLACIAN,
    "laplacian_slices": _LAPLACIAN,
    "heat_step": _HEAT,
    "heat_step_jax": replace(_HEAT, makers=(sheets, between(0.1, 0.5), between(0.1, 0.5))),
    "heat_step_padded": _HEAT,
    "heat_step_inner": replace(_HEAT, function=heat_inner),
    "heat_step_inner_slices": replace(_HEAT, function=heat_inner),
    "heat_step_periodic": replace(_HEAT, function=heat_periodic),
}
"""By recipe."""
