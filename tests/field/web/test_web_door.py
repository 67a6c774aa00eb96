"""Who is let in: host, launch token, cookie, origin, form token, size; and the headers on every answer."""

import re

import pytest
from desk_client import HOST, ORIGIN, Browser
from starlette.routing import Route

PAGES = ("", "/people", "/next", "/same", "/network", "/leaders", "/export", "/import", "/history", "/settings")


def routes(browser) -> list[tuple[str, str]]:
    """Every route there is, as (method, path)."""

    def walk(each, prefix=""):
        for route in each:
            inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
            if isinstance(route, Route):
                yield from ((method, prefix + route.path) for method in route.methods)
            elif inner:
                yield from walk(inner, prefix + getattr(route, "path", ""))

    found = sorted(set(walk(browser.app.routes)))
    assert len(found) > 40
    return [
        (method, re.sub(r"\{study\}", "0" * 16, re.sub(r"\{(code|person|contact)\}", "P1", p))) for method, p in found
    ]


def test_a_foreign_host_gets_403_on_every_route_before_anything_else(desk, browser):
    for method, path in [*routes(browser), ("GET", "/static/app.css"), ("GET", "/nothing"), ("BREW", "/")]:
        for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", f"{HOST}.evil.example", "", f"evil@{HOST}"):
            answer = browser.http.request(method, path, headers={"Host": host, "Origin": ORIGIN})
            assert answer.status_code == 403, (method, path, host)
    assert browser.http.get("/", headers={"Host": f"localhost:{desk.port}"}).status_code == 200


def test_a_foreign_host_cannot_use_the_launch_token(desk):
    browser = Browser(desk, launched=False)
    answer = browser.http.get("/launch", params={"token": desk.launch_token}, headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert desk.launch_token is not None


def test_the_launch_token_works_once_and_becomes_a_cookie(desk):
    browser = Browser(desk, launched=False)
    assert browser.get("/").status_code == 403
    assert browser.get("/launch", params={"token": "wrong"}).status_code == 403
    token = desk.launch_token
    answer = browser.get("/launch", params={"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    assert browser.get("/").status_code == 200
    assert Browser.get(browser, "/launch", params={"token": token}).status_code == 403


def test_a_second_launch_token_lets_another_browser_in_and_finds_studies_locked(desk, browser, study):
    first = desk.launch_token
    desk.renew_launch()
    assert first is None
    assert desk.is_locked(study)
    assert browser.get("/").status_code == 200  # until the new address is used
    other = Browser(desk)
    assert other.get("/").status_code == 200
    assert desk.launch_token is None
    assert browser.get("/").status_code == 403


def test_nothing_without_the_cookie(desk, browser):
    browser.http.cookies.clear()
    for method, path in [*routes(browser), ("GET", "/static/app.js"), ("GET", "/nothing")]:
        if path == "/launch":
            continue
        assert browser.http.request(method, path, headers={"Origin": ORIGIN}).status_code == 403, path
    browser.http.cookies.set(desk.cookie, "x" * 43)
    assert browser.get("/").status_code == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://" + HOST, "http://127.0.0.1:1", ORIGIN + "/"]
)
def test_writes_need_the_right_origin(browser, study, origin):
    headers = {} if origin is None else {"Origin": origin}
    form = {"csrf": browser.desk.csrf, "nonce": "n", "name": "Ana"}
    for method, path in routes(browser):
        if method in ("GET", "HEAD"):
            continue
        path = path.replace("0" * 16, study)
        assert browser.http.request(method, path, data=form, headers=headers).status_code == 403, path
    assert browser.desk.study(study).study.position == 1


def test_writes_need_the_form_token(browser, study):
    for method, path in routes(browser):
        if method in ("GET", "HEAD"):
            continue
        path = path.replace("0" * 16, study)
        for form in ({"name": "Ana"}, {"csrf": "wrong", "name": "Ana"}):
            sent = {"json": {"name": "Ana", "nonce": "n"}} if path.startswith("/api") else {"data": form}
            answer = browser.http.request(method, path, headers={"Origin": ORIGIN, "X-CSRF-Token": "wrong"}, **sent)
            assert answer.status_code == 403, path
    assert browser.desk.study(study).study.position == 1


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_elsewhere_cannot_reach_in(browser, site):
    for path in ("/", "/static/app.js", "/launch?token=x"):
        assert browser.get(path, headers={"Sec-Fetch-Site": site}).status_code == 403


def test_every_answer_has_the_headers(browser, base):
    wanted = {
        "cache-control": "no-store",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
    }
    answers = [browser.get(path) for path in ("/", "/nothing", "/static/app.css", *(base + page for page in PAGES))]
    answers += [browser.get("/", headers={"Host": "evil"}), browser.post(f"{base}/export", format="csv")]
    for answer in answers:
        assert wanted.items() <= dict(answer.headers).items(), answer.url
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "server" not in answer.headers


def test_pages_hold_no_inline_script_or_style_and_nothing_from_elsewhere(browser, base):
    browser.post(f"{base}/people", name="Ana", start="1")
    for page in (*PAGES, "/people/P1", "/survey/P1"):
        text = browser.get(base + page).text
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
        assert not re.search(r"(?:src|href|action)=\"(?!/|#)", text)


def test_bodies_are_capped(browser, base):
    large = "x" * (1 << 20)
    assert browser.post(f"{base}/people", name=large).status_code == 413
    body = (chunk for chunk in [b"csrf=", *(b"x" * 65536 for _ in range(40))])  # no length given
    headers = {"Origin": ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}
    assert browser.http.post(f"{base}/people", content=body, headers=headers).status_code == 413
    many = {f"f{i}": "1" for i in range(6000)}
    assert browser.post(f"{base}/people", many).status_code == 400


def test_odd_methods_and_paths_are_refused_quietly(browser, base):
    assert browser.http.request("PUT", base, headers={"Origin": ORIGIN}).status_code == 405
    for path in ("/s/..%2f..%2fetc", "/s/%00", "/static/..%2fapp.py", "/static/../app.py", "/s/" + "a" * 5000):
        assert browser.get(path).status_code in (404, 307)
    assert browser.http.request("TRACE", "/").status_code in (403, 405)
