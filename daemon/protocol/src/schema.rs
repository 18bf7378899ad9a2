//! Writes the schema of the messages: `MPISCOPE_WRITE=1 cargo test -p mpiscope-protocol schema` after a change of them.

use crate::{Reply, Request};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.schema.json");

/// AsyncAPI 3 around the JSON Schema of both directions.
fn document() -> Value {
    let mut generator = SchemaSettings::draft07()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let (request, reply) = (generator.subschema_for::<Request>(), generator.subschema_for::<Reply>());
    let message =
        |summary: &str, payload: &schemars::Schema| json!({ "summary": summary, "payload": payload });
    let of = |name: &str| json!([{ "$ref": format!("#/channels/programs/messages/{name}") }]);
    let operation = |action: &str, name: &str| json!({ "action": action, "channel": { "$ref": "#/channels/programs" }, "messages": of(name) });
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "mpiscope for external programs",
            "version": format!("{}.0.0", crate::VERSION),
            "description": "One WebSocket, JSON in text frames or MessagePack in binary frames. See protocol.md.",
        },
        "channels": {
            "programs": {
                "address": "/programs",
                "messages": {
                    "request": message("What a client sends.", &request),
                    "reply": message("What a client receives.", &reply),
                },
            },
        },
        "operations": { "send": operation("receive", "request"), "receive": operation("send", "reply") },
        "components": { "schemas": generator.take_definitions(true) },
    })
}

#[test]
fn the_schema_is_that_of_the_messages() {
    let text = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    if std::env::var_os("MPISCOPE_WRITE").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let written = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        written == text,
        "docs/protocol.schema.json is not what the messages are; see daemon/protocol/src/schema.rs"
    );
}
