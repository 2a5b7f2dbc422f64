"""Makes data for AppWorld's own server, in the folder it is run in: the documentation of its APIs, empty databases of
its apps, and one task of ours. Run by AppWorld's Python, since its task data cannot be had without its download."""

import importlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from appworld.collections.api_docs import ApiDocCollection

TASK = "abc_1"
INSTRUCTION = "Add a note titled 'Milk' with the text 'Two bottles.' to my simple note account."
USER = {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.org", "phone_number": "5551234567"}
EVALUATION = """
def evaluate(test, models, **more):
    with test("assert that a note titled Milk was added"):
        titles = [note.title for note in models.end.simple_note.Note.all()]
        test.case("Milk" in titles, "==", True)
    return test
"""
GROUND_TRUTH = {
    "metadata": {"difficulty": 1, "mode": "minimal", "num_apps": 1, "num_apis": 1, "num_api_calls": 1,
                 "num_solution_code_lines": 1},
    "private_data": {}, "public_data": {}, "answer": None, "required_apps": ["simple_note"],
    "test_data": [{"requirement": "assert that a note titled Milk was added", "label": "no_op_fail"}],
}  # fmt: skip


def write(path: str, document: object) -> None:
    file = Path("data", path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document))


def insert(app: str, table: str, **values: object) -> None:
    with closing(sqlite3.connect(f"data/base_dbs/{app}.db")) as connection, connection:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        connection.execute(f"insert into {table}({names}) values({marks})", tuple(values.values()))


def main() -> None:
    docs = ApiDocCollection.build()
    for app, apis in docs.items():
        write(f"api_docs/standard/{app}.json", {name: dict(doc, canary_string="") for name, doc in apis.items()})
    Path("data/base_dbs").mkdir(parents=True, exist_ok=True)
    for app in ("admin", *docs):
        importlib.import_module(f"appworld.apps.{app}.models").SQLModel.set_db("./data/base_dbs", create=True)
        write(f"tasks/{TASK}/dbs/{app}.jsonl", "")
    insert("supervisor", "supervisors", id=1, record_hash="", sex="female", birthday="1990-01-01", **USER)
    insert("supervisor", "tasks", id=1, record_hash="", supervisor_id=1, instruction=INSTRUCTION, answer="null")
    names = {name: USER[name] for name in ("first_name", "last_name", "email")}
    insert("simple_note", "users", id=1, record_hash="", password="p4ss-w0rd", verified=1,
           created_at="2023-01-01 00:00:00.000000", **names)  # fmt: skip
    write("datasets/train.txt", f"{TASK}\n")
    specs = {"instruction": INSTRUCTION, "supervisor": USER, "datetime": "2023-05-18T12:00:00", "db_version": "0.1.0"}
    write(f"tasks/{TASK}/specs.json", specs)
    write(f"tasks/{TASK}/ground_truth/evaluation.py", EVALUATION)
    for name, document in GROUND_TRUTH.items():
        write(f"tasks/{TASK}/ground_truth/{name}.json", document)


main()
