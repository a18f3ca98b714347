"""How Sphinx builds these pages; `make docs` does it."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from gode import __version__

project = "gode"
release = __version__
author = "the gode authors"
copyright = "the gode authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
autodoc_type_aliases = {
    name: name for name in ("Series", "Force", "ArrayLike", "Float", "Signal", "Signals", "Start", "Forces")
}
napoleon_google_docstring = True
default_role = "code"  # docstrings write names as `name`
html_theme = "pydata_sphinx_theme"
html_title = "gode"
html_static_path = ["_static"]
html_css_files = ["gode.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
html_sidebars = {"tutorial": [], "gallery": []}  # they have no pages beside them
html_math_renderer = "mathml"
ALIAS = re.compile(r"<em>TypeAliasForwardRef</em><em>\(</em><em>'(\w+)'</em><em>\)\s*</em>")
PRIMED = re.compile(r"<msup>(<mi>.</mi>)<mi>(&#x0203[23];)</mi></msup>")  # primes are raised by themselves


def mathml(latex, **options):
    """Return a formula as MathML, which browsers draw without script, font or network."""
    return PRIMED.sub(r"<mrow>\1<mo>\2</mo></mrow>", convert(latex, **options))


def inline_formula(writer, node):
    """Write a formula within a line."""
    writer.body.append(mathml(node.astext()))
    raise SkipNode


def block_formula(writer, node):
    """Write a formula on a line of its own."""
    writer.body.append(
        f'<div class="math" style="margin: 1rem 0">{mathml(node.astext(), display="block")}</div>'
    )
    raise SkipNode


def name_types(app, page, template, context, doctree):
    """Write the name of a type where Sphinx writes the object that stands for it."""
    context["body"] = ALIAS.sub(r"<em>\1 </em>", context.get("body", ""))


def setup(app):
    """Let Sphinx write formulas this way, and types by their names."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("html-page-context", name_types)
