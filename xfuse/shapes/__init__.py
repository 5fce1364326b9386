"""Shape-relative values: what a recipe takes from the extents of its operands, as concrete numbers."""

from xfuse.shapes.reader import ShapeUse as ShapeUse
from xfuse.shapes.resolve import ResolvedShapes as ResolvedShapes
from xfuse.shapes.resolve import resolve_shapes as resolve_shapes
