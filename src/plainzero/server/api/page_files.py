"""The built page, or a few words about why there is none."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parents[1] / "page"
_READING = ["GET", "HEAD"]
_A_YEAR = "public, max-age=31536000, immutable"  # names of assets change with their content

_NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>PlainZero: the page was not built</title>
<meta name="viewport" content="width=device-width"></head>
<body style="font: 1.1rem/1.6 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The page was not built</h1>
<p>PlainZero was installed without Node.js, which builds its page. The API works all the same:
<a href="docs">its description</a>.</p>
<p>To have the page: install Node.js 20 or newer, then run <code>make page</code> in a checkout, or
install PlainZero again.</p></body></html>
"""


def is_built(folder: Path) -> bool:
    """Whether there is a page."""
    return (folder / "index.html").is_file()


def make_page_routes(folder: Path) -> APIRouter:
    """Serves the files of the page; nothing outside its folder."""
    router = APIRouter(include_in_schema=False)
    root = folder.resolve()

    @router.api_route("/", methods=_READING)
    def index() -> Response:
        if not is_built(root):
            return HTMLResponse(_NOT_BUILT, 503)
        return FileResponse(root / "index.html", headers={"cache-control": "no-cache"})

    @router.api_route("/docs", methods=_READING)
    def docs() -> Response:
        if not (root / "docs" / "swagger-ui-bundle.js").is_file():
            return RedirectResponse("openapi.json")
        return get_swagger_ui_html(
            openapi_url="openapi.json",
            title="PlainZero: the API",
            swagger_js_url="docs/swagger-ui-bundle.js",
            swagger_css_url="docs/swagger-ui.css",
            swagger_favicon_url="favicon.svg",
        )

    @router.api_route("/{path:path}", methods=_READING)
    def file(path: str) -> Response:
        found = None if path.startswith("api/") else _find_file(root, path)
        if found is None:
            raise HTTPException(404)
        lasting = {"cache-control": _A_YEAR} if path.startswith("assets/") else {}
        return FileResponse(found, headers=lasting)

    return router


def _find_file(root: Path, path: str) -> Path | None:
    """The file at that path, if it is one below `root`."""
    try:
        found = (root / path).resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError):  # a name that no file can have: too long, or with a null in it
        return None
