"""Custom resources against the schemas of those who define them: `custom_resources.py RESOURCES CRDS...`

CRDS are files of CustomResourceDefinitions. As strict as the API server with `fieldValidation: Strict`: a field that the schema does not
know is an error. Their CEL rules are not evaluated. A kind of another API group than Kubernetes' own that no file defines is an error, too.
"""

import sys

import jsonschema
import yaml


def strict(schema):
    """Closes every object whose properties are known, but for those that keep what they do not know."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    keeps = schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema and not keeps:
        closed["additionalProperties"] = False
    return closed


def schemas_in(files):
    for file in files:
        with open(file, encoding="utf-8") as text:
            for definition in yaml.safe_load_all(text):
                spec = (definition or {}).get("spec", {})
                for version in spec.get("versions", []):
                    schema = strict(version["schema"]["openAPIV3Schema"])
                    # Every API object has metadata; the API server checks it.
                    schema["properties"]["metadata"] = {"type": "object"}
                    yield f"{spec['group']}/{version['name']} {spec['names']['kind']}", schema


def main(resources, *files):
    known = dict(schemas_in(files))
    wrong = []
    checked = 0
    with open(resources, encoding="utf-8") as text:
        for resource in yaml.safe_load_all(text):
            group = resource["apiVersion"].split("/")[0]
            if "." not in group or group.endswith(".k8s.io"):
                continue
            checked += 1
            kind = f"{resource['apiVersion']} {resource['kind']}"
            name = f"{kind} {resource['metadata']['name']}"
            if kind not in known:
                wrong.append(f"{name}: no definition of it is here")
                continue
            for error in jsonschema.Draft202012Validator(known[kind]).iter_errors(resource):
                wrong.append(f"{name}: {error.json_path}: {error.message[:200]}")
    print("\n".join(wrong) or f"custom resources: {checked} are as their definitions say")
    return 1 if wrong or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
