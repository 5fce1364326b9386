"""What the passes share: the session that a module's own recipes and bindings make."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ModuleOp

from xfuse.canonical.build import element_name
from xfuse.errors import UnsupportedError, XfuseError
from xfuse.recipes import Recipe, recipes_of
from xfuse.session import Session, current_session
from xfuse.shipped import shipped_recipes_for
from xfuse.table import Row
from xfuse_dialects.xfuse import BindingOp, recipe_name


def module_session(module: ModuleOp, library: str = "", names: Collection[str] | None = None) -> Session:
    """The current session, with the module's recipes first, then those of a library file or else the shipped ones.

    Given ``names``, shipped recipes that are neither named nor fit for the module's ops may be missing. Rows that the
    module's ``xfuse.binding`` ops describe are added. Raises `XfuseError` for a bad library or binding.
    """
    outer = current_session()
    session = Session(library=False, backends=list(outer.backends.values()))
    for recipe in recipes_of(module):
        session.registry.register(recipe)
    if library:
        session.registry.load(library)
    else:
        if names is None or not outer.library_pending:
            recipes: Sequence[Recipe] = outer.registry.entries()
        else:
            bound = [recipe_name(op.recipe) for op in module.walk() if isinstance(op, BindingOp)]
            known = {recipe.name for recipe in session.registry}
            wanted = {*names, *bound} - known
            recipes = shipped_recipes_for({op.name for op in module.walk()}, wanted)
        for recipe in recipes:
            if recipe.identity not in session.registry and recipe.name not in session.registry:
                session.registry.adopt(recipe)
    session.take_rows(outer)
    for op in module.walk():
        if isinstance(op, BindingOp):
            _bind(session, op)
    return session


def _bind(session: Session, op: BindingOp) -> None:
    recipe = session.recipe(recipe_name(op.recipe))
    dtypes = tuple(element_name(each) for each in (*op.signature.inputs.data, *op.signature.outputs.data))
    recipe.element_type_for(dtypes)
    kernel = None
    if op.kernel is not None:
        name = op.kernel.data
        kernels = (row.kernel for row in session.table.rows() if row.kernel is not None)
        kernel = next((each for each in kernels if each.name == name), None)
        if kernel is None:
            raise XfuseError(f"'{op.name}' names the kernel {name!r}, which the session does not hold")
    session.table.bind(Row(recipe.identity, dtypes, op.backend.data, kernel, source="module"))


def choose_recipes(session: Session, only: Sequence[str], excluded: Sequence[str]) -> None:
    """Keep only the recipes that options name, by family or by name. Raises `RecipeError` for an unknown name."""
    keep = session.registry.select(tuple(only)) if only else session.registry.entries()
    drop = session.registry.select(tuple(excluded)) if excluded else ()
    for recipe in session.registry.entries():
        if recipe not in keep or recipe in drop:
            session.registry.unregister(recipe)


def check_backend(session: Session, name: str) -> None:
    """Raise `UnsupportedError` unless the session has a backend of this name, or a row for one."""
    known = {*session.backends, *(row.backend for row in session.table.rows())}
    if name not in known:
        raise UnsupportedError(f"no backend is named {name!r}; known are {', '.join(sorted(known))}")
