// Wall times as people and batch systems write them.
#include <string>

#include "core/base/error.hpp"
#include "core/parallel/wall_time.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("wall times are read in the forms of clocks, of Slurm and with units") {
  const std::pair<const char*, double> times[] = {
      {"00:10:00", 600},   {"10:00", 600},         {"90", 90},       {"1.5", 1.5},        {"100:00:00", 360000},
      {"00:00:02", 2},     {"1-12:00:00", 129600}, {"1-12", 129600}, {"1-12:30", 131400}, {"0-00:00:05", 5},
      {"2-0", 172800},     {"12h", 43200},         {"90m", 5400},    {"90min", 5400},     {"45s", 45},
      {"1h30m", 5400},     {"1d 6h", 108000},      {"1.5h", 5400},   {" 12 h ", 43200},   {"1d 2h 3m 4s", 93784},
      {"00:00:01.5", 1.5},
  };
  for (const auto& [text, seconds] : times) {
    INFO(text);
    CHECK(parse_wall_time(text) == Approx(seconds));
  }
}

TEST_CASE("what is no time, or none at all, is refused with the forms that are") {
  const std::string forms =
      "write HH:MM:SS (\"00:10:00\"), days before it (\"1-12:00:00\"), or units (12h, 90m, 1d 6h)";
  for (const char* text :
       {"soon",  "",       "12x",   "h",      "12h30", "30m 1h", "1h 2h", "-5",   "1:2:3:4",  "1::2", "1-",
        "-1:00", "1.5:00", "1-2-3", "12 h m", "1e9h",  "inf",    "nan",   "0x10", "1d-12:00", ":",    "1-1:1:1:1"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_wall_time(text), "walltime '" + std::string(text) + "' is not a time; " + forms);
  }
  for (const char* text : {"0", "00:00:00", "0h", "0-0"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_wall_time(text), "walltime '" + std::string(text) + "' leaves no time to run; " + forms +
                                                 ", or leave it out for no limit");
  }
}
