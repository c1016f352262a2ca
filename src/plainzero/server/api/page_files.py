"""Routes for the files of the built page, or for instructions if it was not built."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parents[1] / "page"
_READING = ["GET", "HEAD"]
_A_YEAR = "public, max-age=31536000, immutable"  # file names of assets contain a hash

_NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>PlainZero: the page was not built</title>
<meta name="viewport" content="width=device-width"></head>
<body style="font: 1.1rem/1.6 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The page was not built</h1>
<p>PlainZero was installed without Node.js, which is needed to build the page. The API works:
see its <a href="docs">documentation</a>.</p>
<p>To get the page, install Node.js 20 or newer, then run <code>make page</code> in a checkout or
reinstall PlainZero.</p></body></html>
"""

# Without an inline script, which the Content-Security-Policy forbids.
_DOCS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>PlainZero API</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="favicon.svg"><link rel="stylesheet" href="docs/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script><script src="docs/start.js"></script></body></html>
"""
_START_DOCS = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
"""


def is_built(folder: Path) -> bool:
    """Whether the page was built."""
    return (folder / "index.html").is_file()


def make_page_routes(folder: Path) -> APIRouter:
    """Routes that serve the page's folder and nothing outside it."""
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
        return HTMLResponse(_DOCS)

    @router.api_route("/docs/start.js", methods=_READING)
    def start_docs() -> Response:
        return Response(_START_DOCS, media_type="text/javascript")

    @router.api_route("/{path:path}", methods=_READING)
    def file(path: str) -> Response:
        found = None if path.startswith("api/") else _find_file(root, path)
        if found is None:
            raise HTTPException(404)
        headers = {"cache-control": _A_YEAR} if path.startswith("assets/") else {}
        return FileResponse(found, headers=headers)

    return router


def _find_file(root: Path, path: str) -> Path | None:
    """The file at that path, if it is below `root`."""
    try:
        found = (root / path).resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError):  # an impossible file name: too long, or with a null byte
        return None
