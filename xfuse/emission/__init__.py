"""Emitting a recipe as plain ops on given values: instantiation at concrete types."""

from xfuse.emission.instantiation import Emitted as Emitted
from xfuse.emission.instantiation import emit as emit
from xfuse.emission.instantiation import try_emit as try_emit
from xfuse.emission.scalars import type_named as type_named
