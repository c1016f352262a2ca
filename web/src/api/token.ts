/** The server's access token, if any: it arrives once in the address and is then hidden. */

const KEY = "plainzero.token";
let token: string | null = null;

/** Reads the token from `?token=…`, stores it for this tab and removes it from the address. */
export function storeToken(): void {
  const address = new URL(window.location.href);
  const given = address.searchParams.get("token");
  if (given) {
    token = given;
    try {
      sessionStorage.setItem(KEY, given);
    } catch {
      // Storage may be forbidden; the token then lasts until the page is loaded again.
    }
    address.searchParams.delete("token");
    window.history.replaceState(null, "", address);
    return;
  }
  try {
    token = sessionStorage.getItem(KEY);
  } catch {
    token = null;
  }
}

export function readToken(): string | null {
  return token;
}
