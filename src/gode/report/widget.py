"""A result as a widget of a notebook: its page, with plots to zoom and rivals to overlay."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from gode.report.page import discovery_page

if TYPE_CHECKING:
    from anywidget import AnyWidget

    from gode.discovery import Discovery

HEIGHT = 720  # pixels
# The page stands in a frame of its own, which may run its script and save files, and nothing else.
SCRIPT = f"""
function render({{ model, el }}) {{
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.setAttribute("title", "The result of gode");
  frame.style = "width: 100%; height: {HEIGHT}px; border: 0";
  frame.srcdoc = model.get("page");
  el.append(frame);
}}
export default {{ render }};
"""


def has_widgets() -> bool:
    """Tell whether the library of widgets is installed."""
    return find_spec("anywidget") is not None


def widget_view(discovery: "Discovery") -> dict[str, object]:
    """Return what a notebook needs to show the widget; as text it is the discovery."""
    given = widget(discovery)._repr_mimebundle_()
    view = given[0] if isinstance(given, tuple) else given
    return {**(view or {}), "text/plain": repr(discovery)}


def widget(discovery: "Discovery") -> "AnyWidget":
    """Return the page of a discovery as a widget."""
    import anywidget  # an extra, and slow to import
    import traitlets

    page = traitlets.Unicode(discovery_page(discovery, title="Equation found by gode")).tag(sync=True)
    made: AnyWidget = type("Page", (anywidget.AnyWidget,), {"_esm": SCRIPT, "page": page})()
    return made
