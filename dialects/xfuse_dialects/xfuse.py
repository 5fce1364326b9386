"""The xfuse dialect: recipes, fused ops that carry them, and rows of the binding table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    NoMemoryEffect,
    NoTerminator,
    Pure,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from xfuse_dialects.body import SpeculatableIfBodyIs, verify_body
from xfuse_dialects.syntax import (
    entry_arguments,
    parse_attributes,
    parse_optional_symbol,
    parse_results,
    print_results,
)

SCALAR = "xfuse.scalar"
"""Argument mark: a scalar slot, which binds only a scalar or splat constant."""

FLATTEN = "xfuse.flatten"
"""Argument mark: its one core dimension stands for all dimensions of the operand, row-major."""

ACCUMULATOR = "xfuse.accumulator"
"""Argument mark: the narrowest element type that sums over this argument may be held in."""

OUTLINED = "xfuse.outlined"
"""Attribute of a recipe that was made of a cluster of a program: it goes when its last fused op is decomposed."""

YIELDING = "xfuse.yielding"
"""Attribute of a recipe that was made of another one to give inner values as results; it goes as that does."""


MOST_NESTED = 64
"""How deep fused ops may nest. xDSL parses, prints and verifies nested regions by calls within calls."""


def recipe_name(reference: SymbolRefAttr) -> str:
    """The name of the recipe that a symbol refers to, without its library's."""
    nested = reference.nested_references.data
    return (nested[-1] if nested else reference.root_reference).data


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region of a recipe or of a fused op and gives its results."""

    name = "xfuse.yield"

    values = var_operand_def()
    """The results, one or more."""

    traits = lazy_traits_def(lambda: (HasParent(FusedOp, RecipeOp), IsTerminator(), ReturnLike(), Pure()))

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])

    def verify_(self) -> None:
        if not self.values:
            raise VerifyException(f"'{self.name}' expected at least one value")


@irdl_op_definition
class RecipeOp(IRDLOperation):
    """A definition: a named function over element or core-dimension values, polymorphic as a gufunc is."""

    name = "xfuse.recipe"

    sym_name = prop_def(SymbolNameConstraint())
    """The name of the recipe within its family's library."""

    function_type = prop_def(FunctionType)
    """Types of arguments and results, at the widest element type and at core rank."""

    element_types = opt_prop_def(ArrayAttr[Attribute])
    """The element types that the recipe is good for; without it, only the written types."""

    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    """One dictionary of marks per argument: `SCALAR`, `FLATTEN`, `ACCUMULATOR`."""

    body = region_def()
    """One block that ends in `YieldOp`."""

    traits = lazy_traits_def(
        lambda: (HasParent(ModuleOp, LibraryOp), IsolatedFromAbove(), SymbolOpInterface(), NoMemoryEffect())
    )

    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        name: str,
        body: Region,
        *,
        element_types: Sequence[Attribute] | None = None,
        arg_attrs: Sequence[DictionaryAttr] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        yielded = body.block.last_op
        outputs = yielded.operand_types if yielded is not None else ()
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(body.block.arg_types, outputs),
                "element_types": None if element_types is None else ArrayAttr(element_types),
                "arg_attrs": None if arg_attrs is None else ArrayAttr(arg_attrs),
            },
            attributes=attributes or {},
            regions=[body],
        )

    def marks(self, index: int) -> dict[str, Attribute]:
        """The marks of one argument by name."""
        listed = () if self.arg_attrs is None else self.arg_attrs.data
        return dict(listed[index].data) if index < len(listed) else {}

    @classmethod
    def parse(cls, parser: Parser) -> RecipeOp:
        name = parser.parse_symbol_name()
        marks: list[DictionaryAttr] = []

        def argument() -> Parser.Argument:
            parsed = parser.parse_argument()
            marks.append(DictionaryAttr(parser.parse_optional_attr_dict()))
            return parsed

        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        results = parse_results(parser)
        attributes = parse_attributes(parser, ("sym_name", "function_type", "arg_attrs"))
        body = parser.parse_region(arguments)
        element_types = attributes.pop("element_types", None)
        return cls.create(
            properties={
                "sym_name": name,
                "function_type": FunctionType.from_lists([each.type for each in arguments], results),
                **({} if element_types is None else {"element_types": element_types}),
                **({"arg_attrs": ArrayAttr(marks)} if any(each.data for each in marks) else {}),
            },
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            for index, argument in enumerate(entry_arguments(self.body)):
                if index:
                    printer.print_string(", ")
                printer.print_block_argument(argument)
                marks = self.marks(index)
                if marks:
                    printer.print_string(" ")
                    printer.print_attr_dict(marks)
        print_results(printer, self.function_type.outputs.data)
        shown = dict(self.attributes)
        if self.element_types is not None:
            shown["element_types"] = self.element_types
        printer.print_op_attributes(shown, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        inputs = self.function_type.inputs.data
        verify_body(self, self.body, inputs, self.function_type.outputs.data)
        self._verify_structure()
        if self.element_types is not None:
            self._verify_element_types(self.element_types.data)
        if self.arg_attrs is not None and len(self.arg_attrs.data) != len(inputs):
            raise VerifyException(
                f"'{self.name}' expected one dictionary of marks per argument ({len(inputs)}), "
                f"got {len(self.arg_attrs.data)}"
            )
        for index, type_ in enumerate(inputs):
            for mark, value in self.marks(index).items():
                problem = _mark_problem(mark, value, type_)
                if problem is not None:
                    raise VerifyException(f"'{self.name}' argument {index}: {problem}")
        for inner in self.body.walk():
            if isinstance(inner, FusedOp) and inner.label == self.sym_name.data:
                raise VerifyException(f"'{self.name}' (law L1) @{self.sym_name.data} refers to itself")

    def _verify_structure(self) -> None:
        from xfuse_dialects.structure import structure_problem, value_problem  # imports the vocabulary's dialects

        types = self.function_type
        for kind, listed in (("argument", types.inputs.data), ("result", types.outputs.data)):
            for number, type_ in enumerate(listed):
                problem = value_problem(type_)
                if problem is not None:
                    raise VerifyException(f"'{self.name}' @{self.sym_name.data}: {kind} {number} {problem}")
        for number, op in enumerate(self.body.walk()):
            problem = structure_problem(op)
            if problem is not None:
                raise VerifyException(f"'{self.name}' @{self.sym_name.data}: op {number} ({op.name}) {problem}")

    def _verify_element_types(self, listed: Sequence[Attribute]) -> None:
        if not listed:
            raise VerifyException(f"'{self.name}' expected at least one type in element_types")
        for each in listed:
            if not isinstance(each, IntegerType | AnyFloat):
                raise VerifyException(f"'{self.name}' expected element_types to be floats or integers, got {each}")


def _mark_problem(mark: str, value: Attribute, argument: Attribute) -> str | None:
    """What is wrong with a mark on an argument of a type, or None. Marks of other dialects are none of ours."""
    if not mark.startswith("xfuse."):
        return None
    if mark not in (SCALAR, FLATTEN, ACCUMULATOR):
        return f"unknown mark '{mark}', expected '{SCALAR}', '{FLATTEN}' or '{ACCUMULATOR}'"
    if mark == ACCUMULATOR:
        return None if isinstance(value, IntegerType | AnyFloat) else f"'{mark}' expected an element type, got {value}"
    if not isinstance(value, UnitAttr):
        return f"'{mark}' takes no value, got {value}"
    rank = len(argument.get_shape()) if isinstance(argument, TensorType) else 0
    if mark == SCALAR and rank:
        return f"'{mark}' expected a scalar, got {argument}"
    if mark == FLATTEN and rank != 1:
        return f"'{mark}' expected a tensor of one dimension, got {argument}"
    return None


@irdl_op_definition
class LibraryOp(IRDLOperation):
    """A symbol table of recipes."""

    name = "xfuse.library"

    sym_name = prop_def(SymbolNameConstraint())
    """Name of the library."""

    body = region_def()
    """One block of `RecipeOp`."""

    traits = traits_def(
        HasParent(ModuleOp),
        IsolatedFromAbove(),
        NoTerminator(),
        SymbolTable(),
        SymbolOpInterface(),
        NoMemoryEffect(),
    )

    def __init__(self, name: str, recipes: Sequence[RecipeOp]):
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[Region(Block(recipes))])

    @classmethod
    def parse(cls, parser: Parser) -> LibraryOp:
        name = parser.parse_symbol_name()
        attributes = parse_attributes(parser, ("sym_name",))
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls.create(properties={"sym_name": name}, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, RecipeOp):
                raise VerifyException(f"'{self.name}' expected only 'xfuse.recipe', got '{op.name}'")


@irdl_op_definition
class FusedOp(IRDLOperation):
    """An instance of a recipe: the region holds the very ops that were fused, at their own types."""

    name = "xfuse.fused"

    recipe = opt_prop_def(SymbolRefAttr)
    """Label: the recipe that the region was found to be an instance of. The region alone says what the op means."""

    inputs = var_operand_def()
    """The arguments, in the recipe's order."""

    shapes = var_operand_def()
    """Operands that only give a shape: no part of identity, dtype key or kernel call."""

    same_extents = opt_prop_def(DenseArrayBase.constr(i64))
    """Extents of shape operands that are known to be extents of inputs: (shape operand, axis, input, axis) each."""

    duplicated = opt_prop_def(DenseArrayBase.constr(i64))
    """Positions in the region of ops that were kept in the block as well, since other ops read their results."""

    outputs = var_result_def()
    """The results, one or more."""

    body = region_def()
    """One block whose arguments are the inputs and then the shapes; it ends in `YieldOp`."""

    traits = traits_def(IsolatedFromAbove(), NoMemoryEffect(), SpeculatableIfBodyIs())

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    def __init__(
        self,
        recipe: str | SymbolRefAttr | None,
        inputs: Sequence[SSAValue],
        shapes: Sequence[SSAValue],
        outputs: Sequence[Attribute],
        body: Region,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[inputs, shapes],
            result_types=[outputs],
            properties={} if recipe is None else {"recipe": SymbolRefAttr.get(recipe)},
            attributes=attributes or {},
            regions=[body],
        )

    @property
    def known_extents(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By (shape operand, axis) the (input, axis) that has the same extent, as far as that is known."""
        if self.same_extents is None:
            return {}
        numbers = [int(number) for number in self.same_extents.get_values()]
        return {(s, a): (i, b) for s, a, i, b in zip(*(numbers[k::4] for k in range(4)), strict=True)}

    @property
    def label(self) -> str | None:
        """The label without its library, or None."""
        return None if self.recipe is None else recipe_name(self.recipe)

    @classmethod
    def parse(cls, parser: Parser) -> FusedOp:
        recipe = parse_optional_symbol(parser)
        arguments: list[Parser.Argument] = []

        def binding() -> SSAValue:
            inner = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            outer = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
            arguments.append(inner.resolve(type_))
            return parser.resolve_operand(outer, type_)

        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        shapes: list[SSAValue] = []
        if parser.parse_optional_keyword("shapes") is not None:
            shapes = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        outputs = parse_results(parser)
        attributes = parse_attributes(parser, ("recipe", "operandSegmentSizes"))
        known = {name: attributes.pop(name) for name in _NUMBERS if name in attributes}
        op = cls(recipe, inputs, shapes, outputs, _parse_nested(parser, arguments), attributes)
        op.properties.update(known)
        return op

    def print(self, printer: Printer) -> None:
        if self.recipe is not None:
            printer.print_string(" ")
            printer.print_attribute(self.recipe)
        printer.print_string(" ")
        arguments = entry_arguments(self.body)

        def bindings(pairs: Iterable[tuple[SSAValue, SSAValue]]) -> None:
            with printer.in_parens():
                for index, (inner, outer) in enumerate(pairs):
                    if index:
                        printer.print_string(", ")
                    printer.print_ssa_value(inner)
                    printer.print_string(" = ")
                    printer.print_operand(outer)
                    printer.print_string(" : ")
                    printer.print_attribute(outer.type)

        count = len(self.inputs)
        bindings(zip(arguments[:count], self.inputs, strict=False))
        if self.shapes:
            printer.print_string(" shapes ")
            bindings(zip(arguments[count:], self.shapes, strict=False))
        print_results(printer, self.outputs.types)
        shown = {**self.attributes, **{name: self.properties[name] for name in _NUMBERS if name in self.properties}}
        printer.print_op_attributes(shown, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException(f"'{self.name}' expected at least one result")
        if any(value.owner is self for value in self.operands):
            raise VerifyException(f"'{self.name}' (law L8) reads its own result")
        self._verify_nesting()
        self._verify_same_extents()
        verify_body(self, self.body, (*self.inputs.types, *self.shapes.types), self.outputs.types)
        self._verify_duplicated()

    def _verify_nesting(self) -> None:
        depth, around = 1, self.parent_op()
        while around is not None and depth <= MOST_NESTED:
            depth += isinstance(around, FusedOp)
            around = around.parent_op()
        if depth > MOST_NESTED:
            raise VerifyException(_too_deep(self.name))

    def _verify_duplicated(self) -> None:
        if self.duplicated is None:
            return
        numbers = self.duplicated.get_values()
        count = sum(1 for _ in self.body.block.ops) - 1
        if any(not 0 <= number < count for number in numbers):
            raise VerifyException(
                f"'{self.name}' duplicated names op {max(numbers)} of a region of {count} ops; it counts from 0"
            )

    def _verify_same_extents(self) -> None:
        if self.same_extents is None:
            return
        if len(self.same_extents) % 4:
            raise VerifyException(
                f"'{self.name}' expected four numbers for each of same_extents: shape operand, axis, input, axis; got "
                f"{len(self.same_extents)}"
            )
        for (shape, axis), (number, other) in self.known_extents.items():
            extents = [_extent(self.shapes, shape, axis), _extent(self.inputs, number, other)]
            if None in extents:
                raise VerifyException(
                    f"'{self.name}' same_extents names axis {axis} of shape operand {shape} and axis {other} of input "
                    f"{number}, one of which the op does not have"
                )
            if DYNAMIC_INDEX not in extents and extents[0] != extents[1]:
                raise VerifyException(f"'{self.name}' same_extents says that {extents[0]} and {extents[1]} are equal")


def _too_deep(name: str) -> str:
    return f"'{name}' expected at most {MOST_NESTED} fused ops within each other, got more; decompose the inner ones"


def _parse_nested(parser: Parser, arguments: Sequence[Parser.Argument]) -> Region:
    """A region whose ops are parsed by calls within calls: too many of these would end Python."""
    depth: int = parser.__dict__.get(_DEPTH, 0) + 1
    if depth > MOST_NESTED:
        parser.raise_error(_too_deep(FusedOp.name))
    parser.__dict__[_DEPTH] = depth
    try:
        return parser.parse_region(arguments)
    finally:
        parser.__dict__[_DEPTH] = depth - 1


_DEPTH = "xfuse_nesting"

_NUMBERS = ("same_extents", "duplicated")
"""Properties that are printed among the attributes."""


def _extent(values: Sequence[SSAValue], number: int, axis: int) -> int | None:
    """An extent of one of some values, or None if there is no such axis."""
    type_ = values[number].type if 0 <= number < len(values) else None
    shape = type_.get_shape() if isinstance(type_, TensorType) else ()
    return shape[axis] if 0 <= axis < len(shape) else None


@irdl_op_definition
class BindingOp(IRDLOperation):
    """A row of the binding table: this recipe has a kernel for these element types on this backend."""

    name = "xfuse.binding"

    recipe = prop_def(SymbolRefAttr)
    """The recipe, by name."""

    signature = prop_def(FunctionType)
    """Element types of the operands and of the results."""

    backend = prop_def(StringAttr)
    """``numpy``, ``llvm`` or the name of a backend known to the session."""

    kernel = opt_prop_def(StringAttr)
    """Name of a kernel that the session holds; without it the backend makes the kernel itself. No code is imported."""

    assembly_format = "$recipe $signature `on` $backend (`kernel` $kernel^)? attr-dict"

    def verify_(self) -> None:
        if not self.signature.outputs.data:
            raise VerifyException(f"'{self.name}' expected a signature with at least one result")


XFuse = Dialect("xfuse", [YieldOp, RecipeOp, LibraryOp, FusedOp, BindingOp])
