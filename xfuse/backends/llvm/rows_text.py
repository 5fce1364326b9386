"""LLVM IR text with loops: scopes that values are computed in once, and the metadata that loops carry."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager

from xfuse.backends.llvm.target import Target
from xfuse.primitives.llvm_text import TextBuilder

GROUP = "!llvm.access.group !0"
"""What every memory access in a loop without dependencies between its iterations carries."""

PLAIN = ('!"llvm.loop.vectorize.enable", i1 false', '!"llvm.loop.unroll.disable"')
"""Properties of a loop that is left as it is."""


class Module:
    """What the functions of one module share: declarations, constants, metadata."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.declarations: set[str] = set()
        self.constants: list[str] = []
        self.functions: list[str] = []
        self._made: dict[object, str] = {}
        self._loops: dict[tuple[str, ...], int] = {}
        self._entries: dict[str, int] = {}

    def declare(self, line: str) -> None:
        """Add a declaration."""
        self.declarations.add(line)

    def function(self, key: object, make: Callable[[], tuple[str, str]]) -> str:
        """The name of a helper function, made with its text at first use."""
        if key not in self._made:
            name, text = make()
            self._made[key] = name
            self.functions.append(text)
        return self._made[key]

    def loop(self, *properties: str) -> str:
        """The suffix of a branch that closes a loop with these properties, metadata without their number."""
        number = self._loops.setdefault(properties, len(self._loops))
        for each in properties:
            self._entries.setdefault(each, len(self._entries))
        return f", !llvm.loop !LOOP{number}."

    def text(self, *sections: str) -> str:
        """The whole module: ``sections`` stand first."""
        first = 1 + len(self._entries)
        lines = ["!0 = distinct !{}"]
        lines += [f"!{1 + number} = !{{{entry}}}" for entry, number in self._entries.items()]
        for properties, number in self._loops.items():
            inside = ", ".join(f"!{1 + self._entries[each]}" for each in properties)
            lines.append(f"!{first + number} = distinct !{{!{first + number}{inside and ', '}{inside}}}")
        parts = [*sections, *self.constants, *self.functions, *sorted(self.declarations), "\n".join(lines)]
        whole = "\n\n".join(parts)
        for number in range(len(self._loops)):
            whole = whole.replace(f"!LOOP{number}.", f"!{first + number}")
        return whole + "\n"


class Scope:
    """Straight code inside some loops. What is computed in it is known to all scopes in it."""

    def __init__(self, parent: Scope | None, label: str) -> None:
        self.parent = parent
        self.label = label
        self.lines: list[str] = []
        self.memo: dict[object, str] = {}
        self.depth: int = 0 if parent is None else parent.depth + 1

    def __iter__(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class Function:
    """Writes one function, scope by scope."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.builder: TextBuilder = module.target.builder()
        self.top = Scope(None, "entry")
        self.scope = self.top
        self._labels = 0

    def line(self, text: str, scope: Scope | None = None) -> None:
        """An instruction without a result."""
        (scope or self.scope).lines.append(text)

    def emit(self, instruction: str, scope: Scope | None = None) -> str:
        """An instruction with a result, in a scope or the current one."""
        self.builder.lines = (scope or self.scope).lines
        return self.builder.emit(instruction)

    def label(self, hint: str) -> str:
        """A fresh label."""
        self._labels += 1
        return f"{hint}{self._labels}"

    def mark(self, label: str) -> None:
        """Begin a block in the current scope."""
        self.line(f"{label}:")
        self.scope.label = label

    @contextmanager
    def loop(
        self, hint: str, start: str, stop: str, step: str = "1", close: Callable[[Scope], str] | None = None
    ) -> Generator[str]:
        """A loop from ``start`` up to ``stop``; its body is a scope of its own. Gives the name of the counter.

        ``close`` gives the suffix of the branch back, when the body is written.
        """
        outer, label = self.scope, self.label(hint)
        self.scope = Scope(outer, label)
        yield f"%{label}.i"
        inner, self.scope = self.scope, outer
        self.line(f"%{label}.some = icmp slt i64 {start}, {stop}")
        self.line(f"br i1 %{label}.some, label %{label}, label %{label}.end")
        entered = outer.label
        self.mark(label)
        self.line(f"%{label}.i = phi i64 [ {start}, %{entered} ], [ %{label}.next, %{inner.label} ]")
        self.scope.lines.extend(inner.lines)
        self.line(f"%{label}.next = add nsw i64 %{label}.i, {step}")
        self.line(f"%{label}.more = icmp slt i64 %{label}.next, {stop}")
        suffix = "" if close is None else close(inner)
        self.line(f"br i1 %{label}.more, label %{label}, label %{label}.end{suffix}")
        self.mark(f"{label}.end")

    def plain_loop(self, hint: str, stop: str) -> AbstractContextManager[str]:
        """A loop from 0 that LLVM leaves as it is."""
        suffix = self.module.loop(*PLAIN)
        return self.loop(hint, "0", stop, close=lambda _: suffix)

    @contextmanager
    def when(self, condition: str, hint: str = "when") -> Generator[None]:
        """Code that only runs where a condition holds; what it computes is known only inside."""
        outer, label = self.scope, self.label(hint)
        self.scope = Scope(outer, label)
        yield
        inner, self.scope = self.scope, outer
        self.line(f"br i1 {condition}, label %{label}, label %{label}.end")
        self.mark(label)
        self.scope.lines.extend(inner.lines)
        self.line(f"br label %{label}.end")
        self.mark(f"{label}.end")

    def text(self, head: str) -> str:
        """The function's text; ``head`` is its signature."""
        for declaration in self.builder.declarations:
            self.module.declare(declaration)
        body = [line if line.endswith(":") else f"  {line}" for line in self.top.lines]
        return "\n".join([f"define {head} {{", "entry:", *body, "}"])
