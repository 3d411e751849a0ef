// A bench that fails takes no other bench's figures with it.
#include "core/driver/bench_all.hpp"
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
  return {name, "a good one", [figure](const nlohmann::json&, Context&) { return nlohmann::json{{"speed", figure}, {"check", "ok"}}; }};
}

template <class Error>
Bench bad(const std::string& name) {
  return {name, "a bad one", [](const nlohmann::json&, Context&) -> nlohmann::json { throw Error("no peer"); }};
}

}  // namespace

TEST_CASE("benches that fail are told apart and lose only their own figures") {
  World w;
  const std::vector<Bench> benches{good("first", 1.5), bad<NumericalError>("second"), good("third", 3.0), bad<InputError>("fourth")};
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
