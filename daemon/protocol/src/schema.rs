//! Writes the JSON Schema of the messages, and the AsyncAPI document that refers to it:
//! `MPISCOPE_WRITE=1 cargo test -p mpiscope-protocol schema` after a change of them.

use crate::reply::Reply;
use crate::request::Request;
use crate::version::VERSION;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

const SCHEMA: &str = "protocol.schema.json";
const ASYNCAPI: &str = "protocol.asyncapi.json";

/// JSON Schema of both directions.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft07().into_generator();
    let (request, reply) = (generator.subschema_for::<Request>(), generator.subschema_for::<Reply>());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Messages between mpiscope and other programs",
        "description": "Requests of a client and replies to it. See protocol.md.",
        "oneOf": [request, reply],
        "definitions": generator.take_definitions(true),
    })
}

/// AsyncAPI 3 around it: a message for each request and each reply.
fn asyncapi(schema: &Value) -> Value {
    let mut messages = serde_json::Map::new();
    let mut names = |direction: &str, tag: &str| -> Vec<Value> {
        let variants = schema["definitions"][direction]["oneOf"].as_array().cloned().unwrap_or_default();
        let name = |(at, variant): (usize, &Value)| {
            let kind = variant["properties"][tag]["const"].as_str().unwrap_or_default();
            let name = format!("{}_{kind}", direction.to_lowercase());
            let payload = format!("{SCHEMA}#/definitions/{direction}/oneOf/{at}");
            let summary = variant["description"].as_str().unwrap_or_default();
            messages.insert(
                name.clone(),
                json!({ "name": kind, "summary": summary, "payload": { "$ref": payload } }),
            );
            json!({ "$ref": format!("#/channels/programs/messages/{name}") })
        };
        variants.iter().enumerate().map(name).collect()
    };
    let (requests, replies) = (names("Request", "do"), names("Reply", "kind"));
    let channel = json!({ "$ref": "#/channels/programs" });
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "mpiscope for external programs",
            "version": format!("{VERSION}.0.0"),
            "description": "One WebSocket, JSON in text frames or MessagePack in binary frames. See protocol.md.",
        },
        "defaultContentType": "application/json",
        "channels": { "programs": { "address": "/programs", "messages": messages } },
        "operations": {
            "request": { "action": "receive", "channel": channel, "messages": requests },
            "reply": { "action": "send", "channel": channel, "messages": replies },
        },
    })
}

/// The file is this document, or is written so.
fn is_written(name: &str, document: &Value) {
    let file = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = serde_json::to_string_pretty(document).unwrap() + "\n";
    if std::env::var_os("MPISCOPE_WRITE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == text, "docs/{name} is not what the messages are; see daemon/protocol/src/schema.rs");
}

#[test]
fn the_schema_is_that_of_the_messages() {
    let schema = schema();
    is_written(SCHEMA, &schema);
    is_written(ASYNCAPI, &asyncapi(&schema));
}

/// Whatever a reference names is there, and every request and reply has a message.
#[test]
fn all_references_lead_somewhere() {
    let schema = schema();
    let document = asyncapi(&schema);
    let messages = document["channels"]["programs"]["messages"].as_object().unwrap();
    let count = |of: &str| schema["definitions"][of]["oneOf"].as_array().unwrap().len();
    assert_eq!(messages.len(), count("Request") + count("Reply"));
    assert!(messages.contains_key("request_subscribe") && messages.contains_key("reply_batch"));
    let resolve = |reference: &str| {
        let (file, path) = reference.split_once('#').unwrap();
        let of = if file == SCHEMA { &schema } else { &document };
        assert!(of.pointer(path).is_some(), "{reference}");
    };
    each_reference(&document, &mut |reference| resolve(reference));
    each_reference(&schema, &mut |reference| {
        assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    });
}

fn each_reference(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                take(reference);
            }
            map.values().for_each(|value| each_reference(value, take));
        }
        Value::Array(list) => list.iter().for_each(|value| each_reference(value, take)),
        _ => {}
    }
}
