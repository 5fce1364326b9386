"""The canonical form: one value-numbered graph whatever the surface spelling, and the identity over it."""

from xfuse.canonical import build_call as build_call
from xfuse.canonical import build_linalg as build_linalg
from xfuse.canonical import build_scf as build_scf
from xfuse.canonical import build_tensor as build_tensor
