-- What the database says about itself: embedding model identity, extractor version.
CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A watched folder, with the device and inode that prove it is the same one.
CREATE TABLE root (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  name   TEXT NOT NULL UNIQUE,
  path   TEXT NOT NULL UNIQUE,          -- absolute
  device INTEGER,
  inode  INTEGER
) STRICT;

-- One Markdown file.
CREATE TABLE note (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  uid          TEXT NOT NULL UNIQUE,    -- 32 hex; survives renames
  root_id      INTEGER NOT NULL REFERENCES root(id) ON DELETE CASCADE,
  path         TEXT NOT NULL,           -- below the root, `/` between folders
  name_key     TEXT NOT NULL,           -- folded file name without extension: what links look up
  title        TEXT NOT NULL,           -- front matter, first heading, else the file name
  said_title   TEXT NOT NULL,           -- the same without the file name, '' where it says nothing: what is embedded
  content_hash BLOB NOT NULL,           -- of the file's bytes
  extractor    TEXT NOT NULL,           -- rules version that its blocks were made by
  size         INTEGER NOT NULL,
  mtime_ns     INTEGER NOT NULL,
  ctime_ns     INTEGER NOT NULL,
  inode        INTEGER NOT NULL,
  dated        TEXT,                    -- ISO day that the note says it is from
  changed_at   INTEGER NOT NULL,        -- ms since 1970: when recalld last saw its content change
  problems     TEXT NOT NULL DEFAULT '[]',
  UNIQUE (root_id, path)
) STRICT;
CREATE INDEX note_by_name ON note (name_key);

-- A tag of a note, from its front matter or its text, without `#`.
CREATE TABLE note_tag (
  note_id INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  tag     TEXT NOT NULL,                -- folded
  shown   TEXT NOT NULL,                -- as written
  PRIMARY KEY (note_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_tag_by_tag ON note_tag (tag);

-- A Markdown unit of a note; also the queue of the deep extraction.
CREATE TABLE block (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  note_id      INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  ordinal      INTEGER NOT NULL,        -- order in the note
  kind         TEXT NOT NULL,
  text         TEXT NOT NULL,           -- without private parts, secrets masked
  text_hash    BLOB NOT NULL,
  heading_path TEXT NOT NULL,           -- JSON list of headings, outermost first
  lead_in      TEXT NOT NULL,
  line_from    INTEGER NOT NULL,
  line_to      INTEGER NOT NULL,
  extraction   TEXT NOT NULL DEFAULT 'done' CHECK (extraction IN ('pending', 'done', 'parked')),
  extractor    TEXT NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  next_try     INTEGER                  -- ms since 1970
) STRICT;
CREATE INDEX block_of_note ON block (note_id, ordinal);

-- A searchable piece of a block, about 1,200 characters at most.
CREATE TABLE passage (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  uid       TEXT NOT NULL UNIQUE,       -- 32 hex
  block_id  INTEGER NOT NULL REFERENCES block(id) ON DELETE CASCADE,
  note_id   INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,           -- dense order in the note, so that neighbours differ by one
  text      TEXT NOT NULL,
  line_from INTEGER NOT NULL,           -- 1 = the block's first line
  line_to   INTEGER NOT NULL
) STRICT;
CREATE INDEX passage_of_block ON passage (block_id);
CREATE INDEX passage_of_note ON passage (note_id, position);

-- The words of a passage with its title and headings, made by our own tokeniser; nothing is stored twice.
CREATE VIRTUAL TABLE passage_fts USING fts5 (
  words, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Co'"
);

-- In how many passages each word stands.
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab (passage_fts, row);

-- A sentence of a passage, or a fact's own wording where it differs: one embedding each.
CREATE TABLE statement (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  passage_id  INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  text        TEXT NOT NULL,
  words       TEXT NOT NULL,            -- its index words, for coverage
  line_from   INTEGER NOT NULL,         -- 1 = the block's first line
  line_to     INTEGER NOT NULL,
  embed_prefix TEXT NOT NULL,           -- precedes the text when it is embedded: title and heading
  embed_hash  BLOB NOT NULL,            -- of prefix and text: the key of the cache
  embed_state TEXT NOT NULL DEFAULT 'pending' CHECK (embed_state IN ('pending', 'done', 'failed')),
  attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX statement_of_passage ON statement (passage_id);
CREATE INDEX statement_to_embed ON statement (embed_state) WHERE embed_state <> 'done';
CREATE INDEX statement_by_hash ON statement (embed_hash);

-- A statement's embedding: int8 with a scale of its own (free under cosine), and the signs of its numbers.
CREATE TABLE vector (
  statement_id INTEGER PRIMARY KEY REFERENCES statement(id) ON DELETE CASCADE,
  signs        BLOB NOT NULL,           -- one bit a dimension
  embedding    BLOB NOT NULL            -- one int8 a dimension
) STRICT;
CREATE INDEX vector_signs ON vector (statement_id, signs);

-- Vectors of statements that are gone, so that a move, a revert or a restored note costs no model call.
CREATE TABLE embedding_cache (
  embed_hash BLOB NOT NULL PRIMARY KEY,
  signs      BLOB NOT NULL,
  embedding  BLOB NOT NULL,
  used_at    INTEGER NOT NULL           -- ms since 1970
) STRICT, WITHOUT ROWID;

-- One atomic statement that stands on its own. The same words in five notes are one row with five sources.
CREATE TABLE fact (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  uid              TEXT NOT NULL UNIQUE, -- 32 hex, from its words (and headings where it needs them)
  text             TEXT NOT NULL,
  category         TEXT NOT NULL CHECK (category IN ('knowledge', 'error', 'timeline', 'preference', 'tool')),
  category_by      TEXT NOT NULL CHECK (category_by IN ('undecided', 'rule', 'prototype', 'llm', 'user')),
  confidence       REAL NOT NULL,
  importance       REAL NOT NULL DEFAULT 0.5,
  scope            TEXT NOT NULL DEFAULT 'global',
  happened_from    TEXT,                -- ISO days
  happened_to      TEXT,
  stated_on        TEXT,                -- ISO day of the newest note that states it
  extractor        TEXT NOT NULL,
  created_at       INTEGER NOT NULL,    -- ms since 1970, as are the two below
  last_recalled_at INTEGER,
  recall_count     INTEGER NOT NULL DEFAULT 0,
  last_read_at     INTEGER,
  read_count       INTEGER NOT NULL DEFAULT 0,
  superseded_by    INTEGER REFERENCES fact(id) ON DELETE SET NULL
) STRICT;
CREATE INDEX fact_undecided ON fact (category_by) WHERE category_by = 'undecided';
CREATE INDEX fact_superseded ON fact (superseded_by) WHERE superseded_by IS NOT NULL;

-- A place that states a fact. A fact without places is retracted.
CREATE TABLE fact_source (
  fact_id      INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  statement_id INTEGER NOT NULL REFERENCES statement(id) ON DELETE CASCADE,
  passage_id   INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  line_from    INTEGER NOT NULL,        -- 1 = the block's first line
  line_to      INTEGER NOT NULL,
  PRIMARY KEY (fact_id, statement_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_source_of_statement ON fact_source (statement_id);
CREATE INDEX fact_source_of_passage ON fact_source (passage_id);

-- Something that facts name.
CREATE TABLE entity (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  key    TEXT NOT NULL UNIQUE,          -- folded name
  name   TEXT NOT NULL,
  kind   TEXT NOT NULL
) STRICT;

-- Which fact names which entity.
CREATE TABLE mention (
  fact_id   INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  entity_id INTEGER NOT NULL REFERENCES entity(id),
  PRIMARY KEY (fact_id, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_of_entity ON mention (entity_id, fact_id);

-- A typed edge between two entities, with the fact that says so.
CREATE TABLE relation (
  fact_id   INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  subject   INTEGER NOT NULL REFERENCES entity(id),
  predicate TEXT NOT NULL,
  object    INTEGER NOT NULL REFERENCES entity(id),
  PRIMARY KEY (fact_id, subject, predicate, object)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_of_subject ON relation (subject);
CREATE INDEX relation_of_object ON relation (object);

-- A link from a note to another as written; `to_note` is null while no such note exists.
CREATE TABLE note_link (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  from_note  INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('wikilink', 'markdown', 'embed')),
  target     TEXT NOT NULL,
  name_key   TEXT NOT NULL,             -- folded last part of the target, as note.name_key
  fragment   TEXT NOT NULL,
  label      TEXT NOT NULL,
  line       INTEGER NOT NULL,
  to_note    INTEGER REFERENCES note(id) ON DELETE SET NULL,
  ambiguous  INTEGER NOT NULL DEFAULT 0 -- 1: several notes fit, the rule chose one
) STRICT;
CREATE INDEX note_link_from ON note_link (from_note);
CREATE INDEX note_link_to ON note_link (to_note);
CREATE INDEX note_link_waiting ON note_link (name_key);
