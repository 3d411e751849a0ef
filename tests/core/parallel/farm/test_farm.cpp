// Pieces of work handed out by need: unequal ones, failures, ranks that hang, groups of ranks.
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/farm/work_groups.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::tasks;

namespace {

/// Pieces 0 to count - 1; each result is checked and noted once.
struct ListSource : WorkSource {
  explicit ListSource(std::int64_t n) : count(n) {}
  std::int64_t count, given = 0;
  std::map<std::int64_t, PieceResult> results;
  std::map<std::int64_t, std::int32_t> attempts;
  bool next(int, Piece& piece) override {
    if (given == count) return false;
    piece.number = given++;
    piece.what = {static_cast<std::byte>(piece.number)};
    return true;
  }
  void finished(const Piece& piece, const PieceResult& result, int) override {
    CHECK(results.emplace(piece.number, result).second);
    attempts[piece.number] = piece.attempt;
  }
  bool ended() const override { return given == count; }
};

PieceResult answer(double value) {
  PieceResult out;
  out.value.resize(sizeof(value));
  std::memcpy(out.value.data(), &value, sizeof(value));
  return out;
}

double number(const PieceResult& result) {
  double value = 0.0;
  REQUIRE(result.value.size() == sizeof(value));
  std::memcpy(&value, result.value.data(), sizeof(value));
  return value;
}

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Waits as an evaluation does that says often that it lives.
void wait_breathing(double seconds, const Breathe& breathe) {
  for (const double end = wall_seconds() + seconds; wall_seconds() < end; breathe()) wait(0.0005);
}

}  // namespace

TEST_CASE("every piece is finished once, with its own result") {
  const Comm comm;
  Log log;
  FarmOptions options;
  options.ahead = GENERATE(0, 2);
  options.root_works = GENERATE(true, false);
  Farm farm(comm, log, options, [](const Piece& piece, const Breathe&) {
    return answer(10.0 * static_cast<double>(piece.number) + static_cast<double>(piece.what.at(0)));
  });
  ListSource source(100);
  const auto report = farm.run(comm.root() ? &source : nullptr);
  if (!comm.root()) return;
  CHECK(source.results.size() == 100);
  for (const auto& [k, result] : source.results) CHECK(number(result) == 11.0 * static_cast<double>(k));
  CHECK(report.finished == 100);
  CHECK(report.failed == 0);
}

TEST_CASE("ranks share unequal pieces so that none waits long") {
  const Comm comm;
  Log log;
  Farm farm(comm, log, {}, [](const Piece& piece, const Breathe& breathe) {
    wait_breathing(0.002 + 0.03 * std::abs(std::sin(static_cast<double>(piece.number))), breathe);
    return answer(0.0);
  });
  ListSource source(60);
  const auto report = farm.run(comm.root() ? &source : nullptr);
  if (comm.root()) CHECK(report.efficiency() > 0.7);  // of sleeping ranks; what two cores reach is measured elsewhere
}

TEST_CASE("what fails is tried again, and fails for good with its reason") {
  const Comm comm;
  Log log;
  Farm farm(comm, log, {.retries = 1}, [](const Piece& piece, const Breathe&) -> PieceResult {
    if (piece.number % 5 == 0 && piece.attempt == 1) throw InputError("not the first time");
    if (piece.number == 7) throw NumericalError("never");
    return answer(piece.attempt);
  });
  ListSource source(20);
  const auto report = farm.run(comm.root() ? &source : nullptr);
  if (!comm.root()) return;
  CHECK(report.failed == 1);
  CHECK(source.results.at(7).problem == "never");
  CHECK(number(source.results.at(10)) == 2.0);
  CHECK(number(source.results.at(11)) == 1.0);
}

TEST_CASE("what a rank had that hangs is done by others, and its late answer is not heard") {
  const Comm comm;
  if (comm.size() == 1) return;
  Log log;
  bool hung = false;
  Farm farm(comm, log, {.ahead = 1, .hang_limit = 0.4}, [&](const Piece& piece, const Breathe& breathe) {
    if (comm.rank() == comm.size() - 1 && !hung) {
      hung = true;
      wait(1.3);  // without a sign of life
      return answer(-1.0);
    }
    wait_breathing(0.03, breathe);
    return answer(static_cast<double>(piece.number) + 0.5 * piece.attempt);
  });
  const std::int64_t pieces = 60 * (comm.size() - 1);  // 1.8 s for those that do not hang
  ListSource source(pieces);
  comm.barrier();
  const auto report = farm.run(comm.root() ? &source : nullptr);
  if (!comm.root()) return;
  CHECK(std::ssize(source.results) == pieces);
  for (const auto& [k, result] : source.results) CHECK(number(result) == static_cast<double>(k) + 0.5);
  CHECK(report.repeated >= 1);
  REQUIRE(log.warnings().size() == 2);
  CHECK_THAT(log.warnings()[0].text, Catch::Matchers::StartsWith("rank " + std::to_string(comm.size() - 1) +
                                                                 " gives no sign of life in piece "));
  CHECK(log.warnings()[1].text == "rank " + std::to_string(comm.size() - 1) + " is back, and gets work again");
}

TEST_CASE("a rank that does not come back is named once all is done") {
  const Comm comm;
  if (comm.size() == 1) return;
  Log log;
  Farm farm(comm, log, {.hang_limit = 0.2, .go_on = "continue with: cambium restart runs/a"},
            [&](const Piece&, const Breathe& breathe) {
              if (comm.rank() == 1)
                wait(1.5);
              else
                wait_breathing(0.01, breathe);
              return answer(0.0);
            });
  ListSource source(40);
  comm.barrier();
  if (comm.root()) {
    CHECK_THROWS_WITH(
        farm.run(&source),
        "rank 1 hung and did not come back; each piece assigned is finished and recorded. Check its machine, "
        "then continue with: cambium restart runs/a");
    CHECK(source.results.size() == 40);
  } else {
    CHECK_THROWS_WITH(farm.run(nullptr),
                      "rank 0 gives no sign of life for 0.2 s: taken for hung. Everything finished is recorded; check "
                      "its machine, then continue with: cambium restart runs/a");
  }
  comm.barrier();
}

TEST_CASE("a piece whose ranks hang has failed once there are no retries left") {
  const Comm comm;
  if (comm.size() != 2) return;
  Log log;
  Farm farm(comm, log, {.retries = 0, .hang_limit = 0.2, .root_works = false}, [&](const Piece&, const Breathe&) {
    wait(1.0);
    return answer(0.0);
  });
  ListSource source(1);
  comm.barrier();
  if (comm.root()) {
    CHECK_THROWS_WITH(
        farm.run(&source),
        "rank 1 hung and did not come back; each piece assigned is finished and recorded. Check its machine, "
        "then run this again");
    CHECK(source.results.at(0).problem == "the ranks that had it hung");
  } else {
    CHECK_THROWS_AS(farm.run(nullptr), InputError);
  }
  comm.barrier();
}

TEST_CASE("groups of ranks evaluate a piece together") {
  const Comm comm;
  if (comm.size() % 2 != 0) {
    CHECK_THROWS_AS(WorkGroups(comm, 2), InternalError);
    return;
  }
  Log log;
  WorkGroups groups(comm, 2);
  CHECK(groups.own().size() == 2);
  ListSource source(20);
  const auto report = groups.run(comm.root() ? &source : nullptr, log, {}, [&](const Piece& piece, const Breathe&) {
    return answer(groups.own().sum(static_cast<double>(piece.number)));
  });
  if (!comm.root()) return;
  CHECK(report.evaluators == comm.size() / 2);
  for (const auto& [k, result] : source.results) CHECK(number(result) == 2.0 * static_cast<double>(k));
}
