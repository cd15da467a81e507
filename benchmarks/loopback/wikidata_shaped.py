"""Makes a graph with the shape of Wikidata, and questions on it with their answers and gold paths.

    python -m benchmarks.loopback.wikidata_shaped --out build/bench/wikidata-shaped

writes `graph.nt` (N-Triples: claims `wdt:`, some full statements `p:`/`ps:`, labels, descriptions, dates and
numbers), `relations.tsv` (labels of the properties, for `srtk graph build --labels`), `questions.jsonl` (records of
this project), `questions-srtk.jsonl` (the fields that SRTK reads) and `stats.json`. The ids and English labels of the
properties come from Wikidata; entities, their names and all facts are made up. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import attrs

ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
STATEMENT = "http://www.wikidata.org/prop/"
VALUE = "http://www.wikidata.org/prop/statement/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
DESCRIPTION = "http://schema.org/description"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIX = "wdt:"
"""Prefix of a property in gold paths: a graph is built with `--prefix =ENTITY --prefix wdt=DIRECT`."""

# A kind of entity: its class, its share of all entities, and its properties, the most frequent first:
# `P19 place of birth>city` leads to one city, `P69 educated at>>university` to several; ` = ` precedes its phrase.
KINDS = {
    "human": (
        5,
        0.33,
        """
P27 country of citizenship>country = the country that {x} is a citizen of
P106 occupation>>occupation = the job that {x} does
P19 place of birth>city = the town where {x} was born
P69 educated at>>university = the school where {x} studied
P166 award received>>award = the prize that {x} won
P20 place of death>city = the town where {x} died
P108 employer>>company = the organisation that {x} worked for
P26 spouse>human = the person married to {x}
P800 notable work>>book = the best known book of {x}
P39 position held>>office = the office that {x} held
P102 member of political party>party = the party that {x} belongs to
P101 field of work>>field = the subject that {x} works on
P54 member of sports team>>team = the club that {x} played for
P1412 languages spoken, written or signed>>language = the language that {x} speaks
P22 father>human = the father of {x}
P25 mother>human = the mother of {x}
P40 child>>human = the child of {x}
P3373 sibling>>human = the brother or sister of {x}
P551 residence>>city = the town where {x} lives
P463 member of>>company
P1344 participant in>>event = the event in which {x} took part
P737 influenced by>>human = the person who influenced {x}
P1411 nominated for>>award
P937 work location>>city
P103 native language>language = the mother tongue of {x}
P119 place of burial>city = the town where {x} is buried
P184 doctoral advisor>human = the person who supervised the thesis of {x}
P185 doctoral student>>human
P1066 student of>>human = the teacher of {x}
P802 student>>human
P140 religion or worldview>field
P641 sport>sport = the sport that {x} does
P413 position played on team / speciality>occupation
P1303 instrument>>field
P264 record label>company
P136 genre>>genre = the kind of work that {x} makes
P135 movement>genre
P607 conflict>>event = the battle in which {x} fought
P241 military branch>company
P97 noble title>office
P410 military or paramilitary rank>office
P512 academic degree>office
P451 unmarried partner>human
P1038 relative>>human
P157 killed by>human = the person who killed {x}
P509 cause of death>field
P1196 manner of death>field
P172 ethnic group>field
P3602 candidacy in election>>event
P6886 writing language>>language
P2650 interested in>>field
P286 head coach>human
P21 sex or gender>field
""",
    ),
    "city": (
        515,
        0.09,
        """
P17 country>country = the country in which {x} lies
P131 located in the administrative territorial entity>>city = the district to which {x} belongs
P190 twinned administrative body>>city = the twin town of {x}
P6 head of government>human = the mayor of {x}
P47 shares border with>>city = the neighbour of {x}
P206 located in or next to body of water>>river = the water on which {x} stands
P421 located in time zone>field
P138 named after>human = the person after whom {x} is named
P1376 capital of>country
P150 contains the administrative territorial entity>>city
P1313 office held by head of government>office
P194 legislative body>company
P112 founded by>human = the founder of {x}
P1365 replaces>city
P1366 replaced by>city
P706 located in/on physical feature>mountain
P2936 language used>>language = the language heard in {x}
P793 significant event>>event
""",
    ),
    "country": (
        6256,
        0.008,
        """
P36 capital>city = the seat of government of {x}
P37 official language>>language = the language of the authorities of {x}
P30 continent>field = the continent of {x}
P38 currency>field = the money of {x}
P35 head of state>human = the ruler of {x}
P530 diplomatic relation>>country = the partner of {x} in diplomacy
P122 basic form of government>field
P85 anthem>song = the anthem of {x}
P610 highest point>mountain = the highest peak of {x}
P1906 office held by head of state>office
P163 flag>field
P1304 central bank>company
P832 public holiday>>event
P3075 official religion>field
""",
    ),
    "film": (
        11424,
        0.08,
        """
P161 cast member>>human = the star of {x}
P57 director>human = the director of {x}
P58 screenwriter>>human = the writer of the script of {x}
P495 country of origin>country = the country that {x} comes from
P364 original language of film or TV show>language = the language in which {x} was shot
P162 producer>>human = the producer of {x}
P86 composer>human = the composer of the music in {x}
P272 production company>>company = the studio that made {x}
P344 director of photography>human = the camera operator of {x}
P1040 film editor>human = the editor who cut {x}
P750 distributed by>company
P840 narrative location>>city = the place where the story of {x} happens
P915 filming location>>city = the place where {x} was filmed
P144 based on>book = the book behind {x}
P725 voice actor>>human
P921 main subject>>field = the topic of {x}
P2554 production designer>human
P2515 costume designer>human
P1431 executive producer>human
P437 distribution format>field
P462 color>field
P406 soundtrack release>album
P4969 derivative work>>series
P180 depicts>>field
P2438 narrator>human = the voice that tells the story of {x}
P941 inspired by>human
""",
    ),
    "book": (
        571,
        0.07,
        """
P50 author>>human = the writer of {x}
P123 publisher>company = the house that published {x}
P407 language of work or name>language = the language of {x}
P674 characters>>human = a figure in {x}
P110 illustrator>human = the artist who drew the pictures in {x}
P291 place of publication>city = the place where {x} came out
P655 translator>human = the translator of {x}
P98 editor>human
P179 part of the series>series = the series of which {x} is a part
P155 follows>book = the book before {x}
P156 followed by>book = the book after {x}
P872 printed by>company
P825 dedicated to>human = the person to whom {x} is dedicated
P1433 published in>book
""",
    ),
    "album": (
        482994,
        0.05,
        """
P175 performer>band = the group that plays on {x}
P658 tracklist>>song = a track on {x}
P483 recorded at studio or venue>company = the studio where {x} was recorded
P736 cover art by>human = the artist of the cover of {x}
P870 instrumentation>>field
""",
    ),
    "song": (
        7366,
        0.05,
        """
P361 part of>album = the record on which {x} stands
P676 lyrics by>human = the writer of the words of {x}
""",
    ),
    "band": (
        215380,
        0.03,
        """
P527 has part(s)>>human = a member of {x}
P740 location of formation>city = the town where {x} got together
P358 discography>album
P1875 represented by>company
P6275 copyright representative>company
""",
    ),
    "company": (
        783794,
        0.06,
        """
P159 headquarters location>city = the town from which {x} is run
P169 chief executive officer>human = the boss of {x}
P452 industry>>field = the trade of {x}
P749 parent organization>company = the firm above {x}
P355 has subsidiary>>company = a daughter of {x}
P127 owned by>>human = the owner of {x}
P1056 product or material produced or service provided>>field = the thing that {x} makes
P414 stock exchange>company
P3320 board member>>human = a person on the board of {x}
P1037 director / manager>human
P199 business division>>company
P1454 legal form>field
P1830 owner of>>building = a house owned by {x}
P2541 operating area>>country
P859 sponsor>>company
""",
    ),
    "university": (
        3918,
        0.025,
        """
P1075 rector>human = the rector of {x}
P84 architect>human = the architect of {x}
P149 architectural style>genre = the style in which {x} is built
P2388 office held by head of the organization>office
P822 mascot>field
P1435 heritage designation>field
P1387 political alignment>field
""",
    ),
    "team": (
        12973014,
        0.03,
        """
P118 league or competition played in>event = the league in which {x} plays
P115 home venue>building = the ground of {x}
P634 captain>human = the captain of {x}
P1346 winner>team
P2094 competition class>field
P1532 country for sport>country
P664 organizer>company
""",
    ),
    "award": (
        618779,
        0.015,
        """
P1027 conferred by>>company = the body that awards {x}
P276 location>>city = the place where {x} happens
""",
    ),
    "event": (
        1190554,
        0.03,
        """
P1923 participating team>>team = a side in {x}
P710 participant>>human = a person in {x}
P541 office contested>office
P726 candidate>>human = a person who stood in {x}
P991 successful candidate>human
P1444 destination point>city
P828 has cause>>field
P1542 has effect>>event
P2348 time period>field
P4791 commanded by>human
""",
    ),
    "river": (
        4022,
        0.02,
        """
P403 mouth of the watercourse>river = the water into which {x} flows
P974 tributary>>river = a side stream of {x}
P205 basin country>>country = a country drained by {x}
P4614 drainage basin>river
P885 origin of the watercourse>mountain = the place where {x} rises
P469 lakes on river>>river
P177 crosses>>river
P200 inflows>>river
""",
    ),
    "mountain": (
        8502,
        0.02,
        """
P4552 mountain range>mountain = the range in which {x} stands
P186 made from material>>field = the stuff of which {x} consists
P3137 parent peak>mountain
P59 constellation>field
""",
    ),
    "language": (
        34770,
        0.008,
        """
P282 writing system>>field = the script of {x}
P279 subclass of>>field
P1889 different from>>language
""",
    ),
    "game": (
        7889,
        0.03,
        """
P178 developer>>company = the studio behind {x}
P400 platform>>field = the machine on which {x} runs
P404 game mode>>field = the way in which {x} is played
P408 software engine>field
P306 operating system>>field
P277 programmed in>field
P275 copyright license>field
P479 input device>>field
P852 ESRB rating>field
P908 PEGI rating>field
""",
    ),
    "series": (
        5398426,
        0.03,
        """
P170 creator>human = the creator of {x}
P449 original broadcaster>>company = the channel that showed {x}
P371 presenter>>human = the host of {x}
""",
    ),
    "building": (
        41176,
        0.04,
        """
P669 located on street>city
P466 occupied by>>company = the user of {x}
P193 main building contractor>company = the firm that built {x}
P631 structural engineer>human = the engineer of {x}
P366 has use>>field = the purpose of {x}
P547 commemorates>human = the person remembered by {x}
P88 commissioned by>human = the person who ordered {x}
P126 maintained by>company
P137 operator>company = the operator of {x}
""",
    ),
    "party": (
        7278,
        0.008,
        """
P1142 political ideology>>field = the creed of {x}
P807 separated from>party
P488 chairperson>human = the head of {x}
""",
    ),
    "field": (11862829, 0.012, "P279 subclass of>>field"),
    "occupation": (28640, 0.008, ""),
    "office": (4164871, 0.006, ""),
    "genre": (483394, 0.006, ""),
    "sport": (349, 0.003, ""),
}
# Properties that further kinds have, among their most frequent.
SHARED = {
    "P17": "company university team building event river mountain party award",
    "P131": "university building mountain river",
    "P136": "film series book album song band game",
    "P159": "university team party",
    "P112": "company university band team",
    "P138": "building award river university",
    "P166": "film book band building",
    "P407": "song album game",
    "P264": "band album song",
    "P175": "song",
    "P155": "album series event game",
    "P495": "series band game song album",
    "P57": "series",
    "P161": "series",
    "P58": "series",
    "P364": "series",
    "P272": "series",
    "P86": "song game",
    "P361": "event award mountain",
    "P641": "team event",
    "P84": "building",
    "P149": "building",
    "P421": "country",
    "P206": "country",
    "P463": "country company university",
    "P276": "event",
    "P279": "language occupation office genre sport",
    "P710": "team",
    "P101": "award",
}
LITERALS = {
    "human": (("P569", "date of birth", "date"), ("P570", "date of death", "date"), ("P1477", "birth name", "text")),
    "film": (("P577", "publication date", "date"), ("P2047", "duration", "number")),
    "book": (("P577", "publication date", "date"), ("P1104", "number of pages", "number")),
    "city": (("P1082", "population", "number"),),
    "company": (("P571", "inception", "date"), ("P1128", "employees", "number")),
}
MEDIAN_DEGREE, SPREAD, MOST = 13, 0.45, 170
"""Claims of an entity: the logarithm is normal around that of the median."""
FLAT = {"human": 0.35, "city": 0.7, "book": 0.5, "song": 0.3}
"""How steeply popularity falls with its rank; 0.9 by default."""


@attrs.frozen
class Property:
    """A property of a kind of entity.

    Attributes:
        id: Id in Wikidata.
        label: Its English label there.
        leads_to: Kind of the object.
        several: Whether an entity may have several.
        noun_phrase: Noun phrase with `{x}`, or empty if no question uses it.
    """

    id: str
    label: str
    leads_to: str
    several: bool
    noun_phrase: str


@attrs.frozen
class World:
    """The generated graph.

    Attributes:
        kinds: Kind to its entities, the first made most popular.
        labels: Entity to name.
        claims: Entity to property to objects, sorted.
        properties: Id to property.
    """

    kinds: Mapping[str, list[str]]
    labels: Mapping[str, str]
    claims: Mapping[str, Mapping[str, list[str]]]
    properties: Mapping[str, Property]

    def kind_of(self) -> dict[str, str]:
        """Map each entity to its kind."""
        return {entity: kind for kind, entities in self.kinds.items() for entity in entities}


def read_property(line: str) -> Property:
    """Read a line of the table of properties."""
    head, _, noun_phrase = line.partition(" = ")
    id_, _, rest = head.partition(" ")
    label, _, leads_to = rest.rpartition(">")
    return Property(id_, label.rstrip(">"), leads_to, label.endswith(">"), noun_phrase)


def table() -> tuple[dict[str, Property], dict[str, list[Property]]]:
    """Read all properties, and list those of each kind, the most frequent first."""
    own = {kind: [read_property(line) for line in lines.split("\n") if line] for kind, (_, _, lines) in KINDS.items()}
    by_id = {p.id: p for rows in own.values() for p in rows}
    shared = {kind: [by_id[id_] for id_, kinds in SHARED.items() if kind in kinds.split()] for kind in KINDS}
    instance = Property("P31", "instance of", "", False, "")
    return {"P31": instance, **by_id}, {kind: [*shared[kind], *own[kind]] for kind in KINDS}


_SYLLABLES = "ba cor den el fa gri hol is jun ka lem mor nas or pel qui ras sto tur ul ven wil yas zar"
_THINGS = "anchor bridge candle desert engine feather garden harvest island journey kettle lantern meadow"
_ENDINGS = {
    "company": "Works",
    "university": "University",
    "award": "Medal",
    "team": "Athletic",
    "event": "Games",
    "river": "River",
    "mountain": "Mountain",
    "party": "Party",
    "building": "Hall",
}


def _name(kind: str, draw: random.Random) -> str:
    def word() -> str:
        return "".join(draw.choice(_SYLLABLES.split()) for _ in range(draw.randint(2, 4))).capitalize()

    if kind == "human":
        return f"{word()} {word()}"
    if kind in ("film", "book", "album", "song", "game", "series"):
        return f"The {draw.choice(_THINGS.split()).capitalize()} of {word()}"
    if kind == "band":
        return f"The {word()} {draw.choice(_THINGS.split()).capitalize()}s"
    if kind in ("field", "occupation", "office", "genre", "sport"):
        return f"{word().lower()} {draw.choice(_THINGS.split())}"
    return f"{word()} {_ENDINGS[kind]}" if kind in _ENDINGS else word()


def make(entities: int, seed: int) -> World:
    """Make the entities, their names and their claims."""
    draw = random.Random(seed)
    properties, of_kind = table()
    whole = sum(share for _, share, _ in KINDS.values())
    kinds: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    number = 20_000_000
    for kind, (_, share, _) in KINDS.items():
        kinds[kind] = []
        for _ in range(max(4, round(entities * share / whole))):
            number += draw.randint(1, 9)
            kinds[kind].append(f"Q{number}")
            labels[f"Q{number}"] = _name(kind, draw)
    ranks = {kind: list(accumulate((i + 1) ** -FLAT.get(kind, 0.9) for i in range(len(kinds[kind])))) for kind in KINDS}
    # Each property has favourites of its own.
    orders = {p.id: draw.sample(kinds[p.leads_to], len(kinds[p.leads_to])) for p in properties.values() if p.leads_to}
    claims = {}
    for kind, (class_, _, _) in KINDS.items():
        frequent = list(accumulate(1 / (i + 2) for i in range(len(of_kind[kind]))))
        for entity in kinds[kind]:
            claims[entity] = {"P31": [f"Q{class_}"], **_claims(entity, of_kind[kind], frequent, orders, ranks, draw)}
    return World(kinds, labels, claims, properties)


def _claims(
    entity: str,
    properties: Sequence[Property],
    frequent: Sequence[float],
    orders: Mapping[str, Sequence[str]],
    ranks: Mapping[str, Sequence[float]],
    draw: random.Random,
) -> dict[str, list[str]]:
    """Draw the claims of one entity: frequent properties, popular objects."""
    wanted = min(MOST, round(draw.lognormvariate(math.log(MEDIAN_DEGREE), SPREAD))) - 1
    found: dict[str, set[str]] = {}
    count = 0
    for _ in range(20 * max(wanted, 0)):
        if count >= wanted:
            break
        property_ = properties[bisect_left(frequent, draw.random() * frequent[-1])]
        if property_.id in found and not property_.several:
            continue
        weights = ranks[property_.leads_to]
        object_ = orders[property_.id][bisect_left(weights, draw.random() * weights[-1])]
        if object_ != entity and object_ not in found.setdefault(property_.id, set()):
            found[property_.id].add(object_)
            count += 1
    return {id_: sorted(objects) for id_, objects in sorted(found.items()) if objects}


def triples(world: World, seed: int) -> Iterator[str]:
    """Yield the lines of the N-Triples file."""
    draw = random.Random(f"{seed} text")
    for property_ in world.properties.values():
        yield _label(property_.id, property_.label)
    known = {(id_, label) for rows in LITERALS.values() for id_, label, _ in rows}
    for id_, label in sorted(known):
        yield _label(id_, label)
    for kind, (class_, _, _) in KINDS.items():
        yield _label(f"Q{class_}", kind)
    statements = 0
    for kind, entities in world.kinds.items():
        for entity in entities:
            yield _label(entity, world.labels[entity])
            yield f'<{ENTITY}{entity}> <{DESCRIPTION}> "{kind} number {entity[1:]}"@en .'
            for id_, objects in world.claims[entity].items():
                for object_ in objects:
                    yield f"<{ENTITY}{entity}> <{DIRECT}{id_}> <{ENTITY}{object_}> ."
                    if draw.random() < 0.03:  # some of the full statements that a dump has for every claim
                        statements += 1
                        node = f"<{ENTITY}statement/{entity}-{statements}>"
                        yield f"<{ENTITY}{entity}> <{STATEMENT}{id_}> {node} ."
                        yield f"{node} <{VALUE}{id_}> <{ENTITY}{object_}> ."
            for id_, _, form in LITERALS.get(kind, ()):
                if draw.random() < 0.75:
                    yield f"<{ENTITY}{entity}> <{DIRECT}{id_}> {_literal(form, world.labels[entity], draw)} ."


def _label(id_: str, label: str) -> str:
    return f'<{ENTITY}{id_}> <{LABEL}> "{label}"@en .'


def _literal(form: str, name: str, draw: random.Random) -> str:
    if form == "date":
        day = f"{draw.randint(1500, 2020)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        return f'"{day}T00:00:00Z"^^<{XSD}dateTime>'
    return f'"{draw.randint(1, 10**6)}"^^<{XSD}decimal>' if form == "number" else f'"{name}"'


def walk(world: World, start: str, path: Sequence[str]) -> list[str]:
    """Follow properties from an entity."""
    at = {start}
    for id_ in path:
        at = {object_ for node in at for object_ in world.claims.get(node, {}).get(id_, ())}
    return sorted(at)


def questions(world: World, count: int, seed: int) -> list[dict[str, Any]]:
    """Make one- and two-hop questions in turn; each has at most 20 answers, none of them the topic."""
    draw = random.Random(f"{seed} questions")
    heads = [entity for kind in world.kinds for entity in world.kinds[kind] if _askable(world, entity)]
    kinds = world.kind_of()
    made: dict[str, dict[str, Any]] = {}
    while len(made) < count:
        topic = draw.choice(heads)
        path = [draw.choice(_askable(world, topic))]
        if len(made) % 2:
            middle = walk(world, topic, path)
            onward = sorted({id_ for node in middle for id_ in _askable(world, node)})
            if not onward or len(middle) > 10:
                continue
            path.append(draw.choice(onward))
        answers = walk(world, topic, path)
        if not 1 <= len(answers) <= 20 or topic in answers:
            continue
        name = world.labels[topic]
        phrase = name
        for id_ in path:
            phrase = world.properties[id_].noun_phrase.format(x=phrase)
        ask = "Who is" if kinds[answers[0]] == "human" else draw.choice(["What is", "Please name", "Can you tell me"])
        text = f"{ask} {phrase}{'.' if ask == 'Please name' else '?'}"
        start = text.index(name, len(ask))
        made.setdefault(
            text,
            {
                "id": f"w{len(made):04}",
                "question": text,
                "question_entities": [topic],
                "spans": [[start, start + len(name)]],
                "entity_names": [name],
                "answer_entities": answers,
                "gold_paths": [[PREFIX + id_ for id_ in path]],
            },
        )
    return list(made.values())


def _askable(world: World, entity: str) -> list[str]:
    return [id_ for id_ in world.claims.get(entity, {}) if world.properties[id_].noun_phrase]


def write(out: Path, entities: int, count: int, seed: int) -> dict[str, Any]:
    """Write all files into a folder and return the counts."""
    out.mkdir(parents=True, exist_ok=True)
    world = make(entities, seed)
    lines = 0
    with (out / "graph.nt").open("w", encoding="utf-8") as file:
        for line in triples(world, seed):
            file.write(line + "\n")
            lines += 1
    named = {id_: property_.label for id_, property_ in world.properties.items()}
    named.update({id_: label for rows in LITERALS.values() for id_, label, _ in rows})
    _write(out / "relations.tsv", (f"{PREFIX}{id_}\t{label}" for id_, label in named.items()))
    drawn = questions(world, count, seed)
    _write(out / "questions.jsonl", (json.dumps(row) for row in drawn))
    kept = ("id", "question", "question_entities", "answer_entities")
    _write(out / "questions-srtk.jsonl", (json.dumps({field: row[field] for field in kept}) for row in drawn))
    degrees = [sum(map(len, rows.values())) for rows in world.claims.values()]
    popular = [len(objects) for rows in world.claims.values() for objects in rows.values()]
    stats = {
        "triples": lines,
        "claims": sum(popular),
        "entities": len(world.claims),
        "properties": len({id_ for rows in world.claims.values() for id_ in rows}),
        "out_degree": {"median": statistics.median(degrees), "max": max(degrees)},
        "questions": {f"{n}-hop": sum(len(row["gold_paths"][0]) == n for row in drawn) for n in (1, 2)},
        "seed": seed,
    }
    (out / "stats.json").write_text(json.dumps(stats, indent=1) + "\n", encoding="utf-8")
    return stats


def _write(path: Path, lines: Iterator[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def main() -> int:
    """Write the graph and the questions, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(json.dumps(write(args.out, args.entities, args.questions, args.seed)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
