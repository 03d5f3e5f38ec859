"""Makes models.py from the project's schemas: `python generate.py`, or `python generate.py --check`.

Requests and decisions are as strict as the schemas. What is read is not: a newer release may say more.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
schemas = here.parent.parent / "schemas"
workflows = ["provisionServers", "changeOrder", "switchPlan", "setFirewalls", "cleanCart"]
written = [f"{name}.request" for name in workflows]
read = [f"{name}.result" for name in workflows] + ["progress", "report", "notification"]


def title_of(name: str) -> str:
    return "".join(part[0].upper() + part[1:] for part in name.split("."))


def opened(schema: dict[str, object]) -> dict[str, object]:
    return {key: part for key, part in schema.items() if (key, part) != ("additionalProperties", False)}


def all_of_them() -> dict[str, object]:
    decisions = sorted(path.stem for path in schemas.glob("*.decision.json"))
    definitions = {}
    for name in written + decisions + read:
        schema = json.loads((schemas / f"{name}.json").read_text(), object_hook=opened if name in read else None)
        del schema["$schema"]
        definitions[title_of(name)] = {**schema, "title": title_of(name)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}


def generated() -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder, "schemas.json"), pathlib.Path(folder, "models.py")
        source.write_text(json.dumps(all_of_them()))
        how = {
            "--input-file-type": "jsonschema",
            "--output-model-type": "typing.TypedDict",
            "--target-python-version": "3.10",
            "--enum-field-as-literal": "all",
            "--formatters": "builtin",
            "--custom-file-header": '"""Made from schemas/ by generate.py."""',
        }
        flags = ["--reuse-model", "--use-title-as-name", "--use-standard-collections", "--use-union-operator"]
        words = [word for pair in how.items() for word in pair] + flags
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", str(source), "--output", str(made)]
        subprocess.run([*command, *words], check=True)
        return made.read_text()


models = here / "models.py"
if "--check" not in sys.argv:
    models.write_text(generated())
elif models.read_text() != generated():
    sys.exit("models.py does not fit schemas/: run python generate.py")
