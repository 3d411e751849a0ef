#include "core/deck/differences.hpp"
#include "core/deck/override.hpp"
#include "tests/catch.hpp"

using namespace cambium::deck;

namespace {
std::string listed(const char* a, const char* b) {
  std::string text;
  for (const auto& d : differences(parse(a, "a"), parse(b, "b")))
    text += d.path + ": " + d.from + " -> " + d.to + (d.scalar ? "\n" : " (whole)\n");
  return text;
}
}  // namespace

TEST_CASE("keys that differ between two decks are named") {
  CHECK(listed("{run: {seed: 1}, stages: [{train: {steps: 100, rate: 0.10}}]}",
               "{run: {seed: 2}, stages: [{train: {steps: 1e2, rate: 0.1}}]}") == "run.seed: 1 -> 2\n");
  CHECK(listed("{a: [1, 2], b: {c: x}}", "{a: [1, 3], b: {c: x, d: 4}}") ==
        "a: [1, 2] -> [1, 3] (whole)\nb.d: absent -> 4 (whole)\n");
  CHECK(listed("{a: [{every: 1}, {every: 2}], x-note: 1}", "{a: [{every: 1}, {every: 3}], x-note: 2}") ==
        "a[1].every: 2 -> 3\n");
  CHECK(listed("{a: [{every: 1}]}", "{a: [{every: 1}, {every: 3}]}") ==
        "a: [{every: 1}] -> [{every: 1}, {every: 3}] (whole)\n");
  CHECK(listed("{a: {type: nve}}", "{a: nve}") == "a: {type: nve} -> nve (whole)\n");
}

TEST_CASE("a pattern names a key and what stands inside it") {
  CHECK(covers("steps", "steps"));
  CHECK(covers("checkpoint", "checkpoint.every"));
  CHECK(covers("ranks", "ranks[1]"));
  CHECK(covers("output[].every", "output[12].every"));
  CHECK_FALSE(covers("output[].every", "output[0].bins"));
  CHECK_FALSE(covers("steps", "steps_per_frame"));
  CHECK_FALSE(covers("validate.every", "validate"));
}

TEST_CASE("an override holds no comment") {
  Node root = parse("{run: {directory: a}}", "deck");
  override(root, "run.directory=runs/x #1");
  CHECK(root["run"]["directory"].text() == "runs/x #1");
  override(root, "run.directory=#1");
  CHECK(root["run"]["directory"].text() == "#1");
  override(root, "run.directory=\"runs/x #1\"");
  CHECK(root["run"]["directory"].text() == "runs/x #1");
}
