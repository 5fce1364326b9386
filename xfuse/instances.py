"""Which registered recipe a fused op is an instance of."""

from __future__ import annotations

from xfuse.canonical.form import Form
from xfuse.errors import UnsupportedError
from xfuse.identify import body_form, instance_text
from xfuse.registry import RecipeRegistry
from xfuse.specialisation import Instance, instance_of
from xfuse_dialects.xfuse import FusedOp


class Instances:
    """Remembers what regions were found to be, until the registry changes."""

    def __init__(self) -> None:
        self._known: tuple[int, dict[tuple[str, str | None], Instance | None]] = (-1, {})

    def of(self, op: FusedOp, registry: RecipeRegistry, form: Form | None = None) -> Instance | None:
        """A fused op as an instance of a registered recipe, the label tried first; None if it is of none.

        ``form`` is the region's form without fast-math flags, if it is at hand.
        """
        try:
            plain = form or body_form(op, fastmath=False)
        except UnsupportedError:  # what has no canonical form is an instance of nothing
            return None
        generation, known = self._known
        if generation != registry.generation:
            generation, known = self._known = registry.generation, {}
        key = (instance_text(plain), op.label)
        if key not in known:
            guess = registry.region(op.label) if op.label is not None else None
            entries = [guess, *registry.entries()] if guess is not None else list(registry.entries())
            # Recipes with flags of their own are rare; they look at the region's flags too.
            exact: Form | None = None
            found: Instance | None = None
            for entry in entries:
                if entry.has_flags:
                    exact = exact or body_form(op)
                found = instance_of(entry, exact if entry.has_flags and exact is not None else plain)
                if found is not None:
                    break
            if exact is not None:
                return found
            known[key] = found
        return known[key]
