#include <chrono>
#include <regex>
#include <thread>

#include "apps/cambium/profile/profile_table.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("columns of a profile are apart, also where a rate is tiny or a count large") {
  Recorder recorder(10);
  recorder.begin();
  recorder.enter("a name that is as long as its column", WorkKind::files, {.bytes = 600.0});  // some 0.0006 GB/s
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  recorder.leave();
  recorder.enter("pack", WorkKind::transcendental, {.flops = 2e12, .bytes = 2e15});
  recorder.leave();
  recorder.end();
  const auto lines = profile_table(recorder, {}, Comm());
  std::size_t seen = 0;
  for (const auto& line : lines) {
    if (line.find(" at least ") != std::string::npos || line.starts_with("peaks of a rank")) continue;
    ++seen;
    CAPTURE(line);
    // The sign of an exponent is no column.
    CHECK(!std::regex_search(line, std::regex("(^|[^e])-[0-9][.0-9]")));
    const bool of_class = line.size() == lines.at(1).size();
    // Each column but the first begins behind a blank.
    for (const std::size_t at : of_class ? std::vector<std::size_t>{16, 26, 35, 44, 53, 60, 70, 80}
                                         : std::vector<std::size_t>{33, 48, 57, 66, 73, 83, 93})
      CHECK(line.at(at) == ' ');
  }
  CHECK(seen >= 6);
}
