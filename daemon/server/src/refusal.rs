//! What those see who come without a token, or with one that was revoked: what to do, and nothing about the run.

use crate::gate::port_of;
use crate::token::Token;
use warp::http::StatusCode;
use warp::http::header::{self, HeaderValue};
use warp::reply::{Reply, Response};

/// For programs.
pub(crate) const SENTENCE: &str =
    "This page is private: open the whole address, with its token, that mpiscope printed when it started.";

const STYLE: &str = ":root { color-scheme: dark light; --ground: #16181d; --text: #e6e8ec; --soft: #a3a9b5; --line: #343944; --raised: #1e2128; }
@media (prefers-color-scheme: light) { :root { --ground: #ffffff; --text: #1b1e24; --soft: #59606d; --line: #d5d9e0; --raised: #f4f5f7; } }
body { margin: 0; padding: 96px 24px 24px; background: var(--ground); color: var(--text); font: 15px/24px system-ui, sans-serif; }
main { max-width: 600px; margin: 0 auto; }
.name { color: var(--soft); font-weight: 600; }
h1 { margin: 8px 0 0; font-size: 24px; line-height: 32px; }
p { margin: 8px 0 0; color: var(--soft); }
section { margin-top: 24px; padding: 16px 20px; background: var(--raised); border: 1px solid var(--line); border-radius: 4px; }
h2 { margin: 0; font-size: 15px; }
code { display: block; margin-top: 8px; padding: 8px 12px; border: 1px solid var(--line); border-radius: 4px; overflow-x: auto; white-space: pre; color: var(--text); font: 13px/20px ui-monospace, \"DejaVu Sans Mono\", monospace; }
";

const BODY: &str = r#"<main>
<div class="name">mpiscope</div>
<h1>This page opens with a link that has a token</h1>
<p>The link you used has no token, or its token is not valid any more.</p>
<section>
<h2>Somebody sent you the link</h2>
<p>The link was revoked, or the run or replay was started anew. Ask the sender for a new one: on their page, press <b>Copy link</b>.</p>
</section>
<section>
<h2>You started mpiscope</h2>
<p>Open the whole address that <b>mpiscope</b> printed in its terminal, or in the error output of the batch job. It looks like this:</p>
<code>http://127.0.0.1:PORT/?token=1f0c…</code>
</section>
<section>
<h2>mpiscope runs on another machine</h2>
<p>Run the <b>ssh</b> line first that was printed below that address, and then open the same address here:</p>
<code>ssh -N -L PORT:localhost:PORT HOST</code>
</section>
</main>
"#;

/// The page for people who asked this host, which was checked. Its examples have the port that they see.
pub(crate) fn page(host: &str) -> Response {
    let body = BODY.replace("PORT", port_of(host));
    // Without random numbers it comes without style.
    let nonce = Token::random().map_or_else(|_| String::new(), |token| token.hex());
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>mpiscope: a link is needed</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n{body}</html>\n"
    );
    let body = warp::reply::with_header(html, header::CONTENT_TYPE, "text/html; charset=utf-8");
    let mut response = warp::reply::with_status(body, StatusCode::FORBIDDEN).into_response();
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
