"""The description of the API, OpenAPI 3.1: served at /api/v1/openapi.json, and held against the routes by a test."""

from typing import Any, Final

Schema = dict[str, Any]


def _object(properties: Schema, *optional: str) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"oneOf": [schema, {"type": "null"}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "integer"}
_YES_NO: Final[Schema] = {"type": "boolean"}
_TURN: Final[Schema] = {
    "type": "integer",
    "minimum": 0,
    "description": "How many entries the log had when the question was asked. A choice names the turn that it answers.",
}
_ANYTHING: Final[Schema] = {"type": "object", "description": "A record of the game, as its log writes it."}
_VALUES: Final[Schema] = {
    "type": "array",
    "description": "One value for each blank of the act: a number, the value of a thing, or a list of these.",
}

_TABLE: Final[Schema] = {
    "game": _TEXT | {"description": "The public name of the table."},
    "kind": _TEXT | {"description": "Which game it is, like sunset-poker."},
    "title": _TEXT,
    "status": {"type": "string", "enum": ["playing", "paused", "over", "void", "frozen"]},
    "turn": _TURN,
    "seat": _NUMBER | {"description": "Whose token this is, counted from 0."},
    "players": _list(_TEXT),
    "head": _TEXT | {"description": "The first digits of the hash of the last entry, as mails show it."},
}

_THING: Final[Schema] = _object({"value": {"type": ["integer", "string"]}, "word": _TEXT, "note": _TEXT})
_FACE: Final[Schema] = _object({"kind": _TEXT, "id": _TEXT, "word": _TEXT, "note": _TEXT})

_SCHEMAS: Final[Schema] = {
    "Choice": _object({"verb": _TEXT, "values": _VALUES, "text": _TEXT}),
    "Blank": _object(
        {
            "kind": {"type": "string", "enum": ["amount", "oneof", "some", "ranking", "split"]},
            "name": _TEXT,
            "why": _or_null(_TEXT),
            "low": _NUMBER,
            "high": _NUMBER,
            "endings": _list(_NUMBER) | {"description": "The last digits that the number may have."},
            "raising": _YES_NO,
            "things": _list(_THING),
            "many": _NUMBER,
            "total": _NUMBER,
        },
        "low",
        "high",
        "endings",
        "raising",
        "things",
        "many",
        "total",
    ),
    "Act": _object({"verb": _TEXT, "usage": _TEXT, "note": _or_null(_TEXT), "blanks": _list(_ref("Blank"))}),
    "Decision": _object(
        {
            "prompt": _TEXT,
            "topic": _TEXT,
            "acts": _list(_ref("Act")),
            "default": _ref("Choice") | {"description": "What silence means."},
            "closes": _list(_TEXT) | {"description": "Verbs that end the turn at once."},
        }
    ),
    "Asked": _object(
        _TABLE
        | {
            "decision": _or_null(_ref("Decision")),
            "sealed": _or_null(_ref("Choice")),
            "due_at": _or_null(_TEXT | {"format": "date-time"}),
            "order": _or_null(_TEXT | {"description": "The standing order."}),
        }
    ),
    "Receipt": _object(
        {
            "turn": _TURN,
            "seat": _NUMBER,
            "choice": _ref("Choice"),
            "sealed": _YES_NO | {"description": "It waits for others, and may still be changed."},
            "again": _YES_NO | {"description": "It was there already."},
            "over": _YES_NO,
        }
    ),
    "Part": {
        "oneOf": [
            _object({"kind": {"const": "line"}, "text": _TEXT}),
            _object({"kind": {"const": "row"}, "label": _TEXT, "faces": _list(_FACE)}),
            _object({"kind": {"const": "amounts"}, "pairs": _list(_object({"label": _TEXT, "number": _NUMBER}))}),
            _object(
                {
                    "kind": {"const": "grid"},
                    "columns": _list(_TEXT),
                    "rows": _list(_object({"seat": _NUMBER, "numbers": _list({"type": ["integer", "null"]})})),
                }
            ),
        ]
    },
    "Board": _object(
        {"title": _TEXT, "turn": _TEXT} | {name: _list(_ref("Part")) for name in ("up", "mine", "others", "scores")}
    ),
    "Seen": _object(_TABLE | {"view": _ANYTHING}),
    "Shown": _object(_TABLE | {"board": _ref("Board")}),
    "Told": _object(
        _TABLE
        | {
            "entries": _list(_object({"turn": _TURN, "facts": _list(_ANYTHING), "sentences": _list(_TEXT)})),
            "next": _or_null(_NUMBER) | {"description": "From which turn on there is more."},
        }
    ),
    "GameFile": {
        "type": "object",
        "description": "The file of a finished game; the page “game-file” of the handbook tells its form.",
        "properties": {"format": {"const": "pbem-game"}, "version": {"const": 1}, "log": _list(_ANYTHING)},
        "required": ["format", "version", "game", "chance", "head", "log"],
    },
    "Wanted": {
        "oneOf": [
            _object({"turn": _TURN, "text": _TEXT | {"maxLength": 200}}),
            _object({"turn": _TURN, "choice": _object({"verb": _TEXT, "values": _VALUES}, "values")}),
        ]
    },
    "Turn": _object({"turn": _TURN}),
    "Error": _object(
        {
            "error": _object(
                {
                    "kind": _TEXT,
                    "what": _TEXT,
                    "why": _TEXT,
                    "remedy": _TEXT | {"description": "What to do now."},
                }
            )
        }
    ),
}

_REFUSALS: Final = {
    "400": "What was sent cannot be read, or is not possible.",
    "401": "There is no token.",
    "403": "It is not theirs to do, or not now.",
    "404": "This is not one of our tokens.",
    "409": "The game has moved on.",
    "410": "The token was renewed, or the game is over.",
    "413": "The body is too large.",
    "429": "Too often.",
}


def _content(schema: str) -> Schema:
    return {"application/json": {"schema": _ref(schema)}}


def _operation(
    name: str, summary: str, answer: str, *, takes: str = "", parameters: list[Schema] | None = None
) -> Schema:
    told: Schema = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": _content(answer)}}
        | {status: {"description": words, "content": _content("Error")} for status, words in _REFUSALS.items()},
    }
    if takes:
        told["requestBody"] = {"required": True, "content": _content(takes)}
    if parameters:
        told["parameters"] = parameters
    return told


_SINCE: Final[Schema] = {
    "name": "since",
    "in": "query",
    "description": "The first turn to tell of.",
    "schema": {"type": "integer", "minimum": 0, "default": 0},
}

DESCRIPTION: Final[Schema] = {
    "openapi": "3.1.0",
    "info": {
        "title": "Play a seat by program",
        "version": "1.0",
        "description": "A token is for one seat of one table. The page of the seat shows it; whoever has it sees what the "
        "seat may see, and plays for it.",
    },
    "servers": [{"url": "/api/v1"}],
    "security": [{"seat": []}],
    "paths": {
        "/decision": {"get": _operation("decision", "What the seat is asked now.", "Asked")},
        "/choice": {
            "post": _operation(
                "choose", "Make a choice; the same again gives the same receipt.", "Receipt", takes="Wanted"
            )
        },
        "/choice/withdrawal": {
            "post": _operation("take_back", "Take back a choice that has told nobody anything.", "Asked", takes="Turn")
        },
        "/view": {"get": _operation("view", "Everything that the seat knows.", "Seen")},
        "/board": {"get": _operation("board", "The table as a person at the seat would see it.", "Shown")},
        "/history": {
            "get": _operation("history", "What the seat was told, turn by turn.", "Told", parameters=[_SINCE])
        },
        "/export": {"get": _operation("whole_game", "The file of the finished game.", "GameFile")},
        "/openapi.json": {
            "get": {
                "operationId": "description",
                "summary": "This description.",
                "security": [],
                "responses": {
                    "200": {
                        "description": "This description.",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    }
                },
            }
        },
    },
    "components": {
        "schemas": _SCHEMAS,
        "securitySchemes": {"seat": {"type": "http", "scheme": "bearer"}},
    },
}
