"""Which registered recipe a fused op is an instance of."""

from __future__ import annotations

from xfuse.canonical.form import Form
from xfuse.errors import UnsupportedError
from xfuse.identify import body_form, instance_text
from xfuse.match.index import PatternIndex
from xfuse.match.pattern import Pattern
from xfuse.match.program import Program
from xfuse.match.search import Search
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
            flagged = False
            found: Instance | None = None
            for entry in entries:
                found = instance_of(entry, plain)
                if found is not None and entry.has_flags:
                    flagged = True
                    found = found if carries_flags(op, found) else None
                if found is not None:
                    break
            if flagged:  # the key says nothing of flags
                return found
            known[key] = found
        return known[key]


def carries_flags(op: FusedOp, instance: Instance) -> bool:
    """Whether the ops of an instance's region have at least the fast-math flags of its recipe (rule R6)."""
    block = op.regions[0].block
    program = Program(block)
    pattern = Pattern.of(instance.recipe, instance.element_type)
    reading = PatternIndex([instance.recipe]).read(program)
    assert block.last_op is not None
    root = program.value(block.last_op.operands[pattern.anchor])
    given = [program.value(argument) for argument in block.args]
    for binding in Search(pattern, reading).all_at(root.node) if root is not None else ():
        places = {
            number: binding.places[node][0] for node, number in pattern.arguments.items() if node in binding.places
        }
        if all(value is not None and value.node == places[n] for n, value in enumerate(given) if n in places):
            return True
    return False
