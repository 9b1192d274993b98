"""Validates messages, one JSON object per line with `definition` and `message`, against a JSON Schema with definitions.

Objects may have no other fields than those that the schema describes, although the schema itself allows more.
"""

import json
import sys

import jsonschema_rs


def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["additionalProperties"] = False
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


schema_file, messages_file = sys.argv[1:]
with open(schema_file, encoding="utf-8") as file:
    definitions = json.load(file)["definitions"]
close(definitions)
validators = {}
failed = 0
with open(messages_file, encoding="utf-8") as file:
    for line in file:
        entry = json.loads(line)
        name = entry["definition"]
        if name not in validators:
            root = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": f"#/definitions/{name}"}
            validators[name] = jsonschema_rs.validator_for(root | {"definitions": definitions})
        for error in validators[name].iter_errors(entry["message"]):
            print(f"{name}: {error.message[:500]}: {line[:500]}", file=sys.stderr)
            failed += 1
sys.exit(failed > 0)
