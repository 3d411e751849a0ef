// A bench that fails takes no other bench's figures with it.
#include "apps/cambium/bench/bench_all.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

Bench good(const std::string& name, double figure) {
  return {name, "a good one", [figure](const BenchOptions&, Context&) {
            return nlohmann::json{{"speed", figure}, {"check", "ok"}};
          }};
}

template <class Error>
Bench bad(const std::string& name) {
  return {name, "a bad one", [](const BenchOptions&, Context&) -> nlohmann::json { throw Error("no peer"); }};
}

}  // namespace

TEST_CASE("benches that fail are told apart and lose only their own figures") {
  World w;
  const std::vector<Bench> benches{good("first", 1.5), bad<NumericalError>("second"), good("third", 3.0),
                                   bad<InputError>("fourth")};
  const auto all = bench_all(benches, w.context, true);
  CHECK(all.figures["first"]["speed"] == 1.5);
  CHECK(all.figures["second"] == nlohmann::json{{"failed", "numerical failure: no peer"}});
  CHECK(all.figures["third"]["speed"] == 3.0);
  CHECK(all.figures["fourth"] == nlohmann::json{{"failed", "no peer"}});
  CHECK(all.code == ExitCode::numerical_failure);  // of the first that failed
}

TEST_CASE("without a failure the exit code is that of success") {
  World w;
  const std::vector<Bench> benches{good("first", 1.5), good("second", 2.5)};
  const auto all = bench_all(benches, w.context, false);
  CHECK(all.figures.size() == 2);
  CHECK(all.code == ExitCode::done);
}

TEST_CASE("options of a bench are read by the type of their standard values") {
  const std::vector<BenchOption> known{
      {"steps", "timed", 400}, {"seconds", "each", 2.0}, {"peer", "run it", true}, {"file", "of data", ""}};
  const BenchOptions standard("md", known);
  CHECK(standard.integer("steps") == 400);
  CHECK(standard.number("seconds") == 2.0);
  CHECK(standard.yes("peer"));
  CHECK(standard.text("file").empty());
  const std::vector<std::string> words{"steps=1e3", "seconds=3", "peer=no", "file=a=b"};
  const BenchOptions given("md", known, words);
  CHECK(given.integer("steps") == 1000);
  CHECK(given.number("seconds") == 3.0);
  CHECK(!given.yes("peer"));
  CHECK(given.text("file") == "a=b");
  CHECK_THROWS_WITH(given.integer("seconds"), "a bench reads its option 'seconds' otherwise than it declares it");
  const auto refused = [&](const std::string& word) {
    try {
      BenchOptions("md", known, std::vector<std::string>{word});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("step=3") ==
        "bench md has no option 'step'; did you mean 'steps'? It takes steps=400, seconds=2, peer=yes, file= (`cambium "
        "bench md --help`)");
  CHECK(refused("peer=maybe") == "bench md: peer is 'maybe'; it must be yes or no, for example peer=yes");
  CHECK(refused("seconds=long") == "bench md: seconds is 'long'; it must be a number, for example seconds=2");
  CHECK_THROWS_WITH(BenchOptions("plain", {}, words), "bench plain takes no options, but 'steps' is given");
}
