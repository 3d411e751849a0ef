// Calendars, units of time, and what a field refuses: the exact text.
#include <array>
#include <cmath>
#include <functional>

#include "core/io/cf/date_text.hpp"
#include "core/io/cf/field.hpp"
#include "core/io/cf/units.hpp"
#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::io;
using namespace cambium::io::cf;

TEST_CASE("dates of every calendar there and back", "[calendar]") {
  for (const auto calendar : {Calendar::standard, Calendar::proleptic_gregorian, Calendar::julian, Calendar::noleap,
                              Calendar::all_leap, Calendar::days_360})
    for (const Date first :
         {Date{-4, 12, 28}, Date{0, 2, 27}, Date{1582, 9, 30}, Date{1900, 2, 27}, Date{2000, 2, 27}}) {
      const auto start = day_number(first, calendar);
      for (std::int64_t day = start; day < start + 40; ++day) {
        const Date date = date_of(day, calendar);
        CHECK(is_date(date, calendar));
        CHECK(day_number(date, calendar) == day);
      }
    }
}

TEST_CASE("days between dates", "[calendar]") {
  auto days = [](Date a, Date b, Calendar c) { return day_number(b, c) - day_number(a, c); };
  CHECK(days({2000, 1, 1}, {2001, 1, 1}, Calendar::standard) == 366);
  CHECK(days({1900, 1, 1}, {1901, 1, 1}, Calendar::standard) == 365);
  CHECK(days({1900, 1, 1}, {1901, 1, 1}, Calendar::julian) == 366);
  CHECK(days({1582, 10, 4}, {1582, 10, 15}, Calendar::standard) == 1);
  CHECK(days({1582, 10, 4}, {1582, 10, 15}, Calendar::proleptic_gregorian) == 11);
  CHECK(days({2000, 2, 28}, {2000, 3, 1}, Calendar::noleap) == 1);
  CHECK(days({1999, 2, 28}, {1999, 3, 1}, Calendar::all_leap) == 2);
  CHECK(days({2000, 1, 1}, {2001, 1, 1}, Calendar::days_360) == 360);
  CHECK(day_number({2000, 1, 1}, Calendar::standard) == 2451545);  // Julian day number
  CHECK(is_date({2001, 2, 30}, Calendar::days_360));
  CHECK(!is_date({2001, 2, 29}, Calendar::standard));
  CHECK(!is_date({1582, 10, 10}, Calendar::standard));
}

TEST_CASE("dates as UDUNITS spells them", "[calendar]") {
  const auto noon = Moment{day_number({1990, 1, 1}, Calendar::standard), 43200.0};
  for (const char* text : {"1990-1-1 12:00", "1990-01-01T12:00:00Z", "19900101T120000", "19900101 1200", "1990-1-1 12",
                           "1990-01-01 12:00:0.0 UTC", "1990-1-1 6:00 -6:00", "1990-1-1 13:30:00 +0130",
                           "1990-1-1T12:0:0", "1990-1-2 00:30 +12:30", "1990 12:00"}) {
    INFO(text);
    const auto found = moment_of(text, Calendar::standard);
    REQUIRE(found);
    CHECK(found->day == noon.day);
    CHECK(found->second == noon.second);
  }
  for (const char* text : {"", "yesterday", "1990-13-01", "1990-02-30", "1990/01/01", "1990-1-1 25:00",
                           "1990-1-1 12:00 Mars", "1990-1-1T", "90-1"}) {
    INFO(text);
    const bool year_90 = std::string(text) == "90-1";  // a year of two digits is that year
    CHECK(moment_of(text, Calendar::standard).has_value() == year_90);
  }
}

TEST_CASE("times from one unit to another", "[calendar]") {
  auto unit = [](const char* text, const char* calendar = "") { return time_unit_of(text, calendar, "times"); };
  const std::vector<double> t{0.0, 31.0};
  CHECK(converted(t, unit("days since 1993-01-01"), unit("days since 1990-1-1"), "") ==
        std::vector<double>{1096, 1127});
  CHECK(converted(t, unit("days since 1990-1-1 12:00"), unit("hours since 1990-1-1"), "") ==
        std::vector<double>{12, 756});
  const std::vector<double> packed{19900131.25, 19900201.0};
  CHECK(converted(packed, unit("day as %Y%m%d.%f"), unit("days since 1990-1-1"), "") ==
        std::vector<double>{30.25, 31.0});
  CHECK(converted(std::vector<double>{199002.5}, unit("month as %Y%m.%f", "360_day"),
                  unit("days since 1990-1-1", "360_day"), "") == std::vector<double>{45.0});
  CHECK(unit("months since 1960-01-01", "360_day").days() == 30.0);
  CHECK(unit("years since 1960-01-01", "noleap").days() == 365.0);
  CHECK(plain_unit(unit("months since 1960-01-15", "360_day")).text == "days since 1960-01-15 00:00:00");
  CHECK(plain_unit(unit("hours since 1-1-1 00:00:0.0")).text == "hours since 1-1-1 00:00:0.0");
  CHECK(plain_unit(unit("h@19900101T0630")).text == "hours since 1990-01-01 06:30:00");
  if (!knows_all_units())
    return std::puts("SKIPPED: the build has no UDUNITS-2: its spellings were not compared"), void();
  CHECK(unit("fortnights since 1990-1-1").days() == 14.0);
  CHECK(unit("common_years since 1990-1-1").days() == 365.0);
  CHECK(is_same_unit("degC", "Celsius"));
  CHECK(!is_same_unit("degC", "K"));
}

TEST_CASE("units of time that are none", "[messages]") {
  auto says = [](const char* units, const char* calendar) {
    return message([&] { time_unit_of(units, calendar, "the times 't' of 'a.nc'"); });
  };
  CHECK(says("days since 2000-1-1", "lunar") ==
        "the times 't' of 'a.nc' have the calendar 'lunar', expected standard, gregorian, proleptic_gregorian, julian, "
        "noleap "
        "(365_day), all_leap (366_day) or 360_day");
  CHECK(says("days since 2000-2-30", "noleap") ==
        "the times 't' of 'a.nc' are in 'days since 2000-2-30', whose '2000-2-30' is no date of the calendar noleap; "
        "expected one such as 1990-01-15 06:00:00: correct the attribute (ncatted)");
  CHECK(says("day as %d.%m.%Y", "") ==
        "the times 't' of 'a.nc' are in 'day as %d.%m.%Y', expected 'day as %Y%m%d.%f', 'month as %Y%m.%f' or 'year as "
        "%Y.%f'");
  const std::string moons =
      "the times 't' of 'a.nc' are in 'moons since 2000-1-1', expected seconds, minutes, hours, days, weeks, months or "
      "years "
      "since a date";
  CHECK(says("moons since 2000-1-1", "") ==
        (knows_all_units()
             ? moons
             : moons + "; this build reads only the usual units: build it with UDUNITS-2 (libudunits2-dev)"));
  const std::vector<double> t{1.0}, odd{20010230.0};
  auto convert = [](const std::vector<double>& times, const char* from, const char* a, const char* to, const char* b) {
    return message([&] { converted(times, time_unit_of(from, a, ""), time_unit_of(to, b, ""), "times of 'b.nc'"); });
  };
  CHECK(
      convert(t, "days", "", "days since 2000-1-1", "") ==
      "times of 'b.nc' are in 'days', which gives no common date with 'days since 2000-1-1'; write both since a date");
  CHECK(convert(t, "days since 2000-1-1", "noleap", "days since 2000-1-1", "") ==
        "times of 'b.nc' have the calendar noleap, the others standard; convert one of the files (cdo setcalendar)");
  CHECK(convert(t, "days since 1500-1-1", "proleptic_gregorian", "days since 2000-1-1", "").find("cdo setcalendar") !=
        std::string::npos);
  CHECK(convert(t, "days since 1990-1-1", "proleptic_gregorian", "days since 2000-1-1", "") == "no error");
  CHECK(convert(odd, "day as %Y%m%d.%f", "", "days since 2000-1-1", "") ==
        "times of 'b.nc': 20010230 is no date of the calendar standard");
}

namespace {

/// A field (time, lat, lon) of 2 x 2 x 3 numbers 0, 1, 2, ... in HDF5, which a case changes.
struct Sample {
  Scratch scratch{"cf"};
  std::string path = scratch.file("a.h5");
  template <class T>
  void write(const std::vector<T>& values, const std::function<void(File&, Dataset&)>& change) {
    File file = File::create(path);
    auto data = file.write("q", tensor_of(values.data(), {2, 2, 3}));
    file.write("time", std::vector<double>{0, 30}).set_attribute("units", "days since 2000-01-01");
    file.write("lat", std::vector<double>{-30, 30}).set_attribute("units", "degrees_north");
    file.write("lon", std::vector<double>{0, 120, 240});
    change(file, data);
    file.close();
  }
  std::vector<double> read(const FieldNames& names = {"q", "", {}, {}}) const {
    const Field field = Field::open(path, names);
    std::vector<double> out(12);
    field.read(std::array<std::int64_t, 3>{0, 0, 0}, field.shape(), out.data());
    return out;
  }
  std::string says(FieldNames names = {"q", "", {}, {}}) const {
    std::string text = message([&] { read(names); });
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
      text.replace(at, path.size(), "a.h5");
    return text;
  }
};

std::vector<std::int32_t> whole() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; }
std::vector<float> real() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; }
std::vector<std::int8_t> bytes() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -2, -1}; }

std::vector<std::size_t> missing(const std::vector<double>& values) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isnan(values[k])) out.push_back(k);
  return out;
}
using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("missing numbers by every attribute", "[decoding]") {
  Sample s;
  auto odd = real();
  odd[5] = -99.99F;
  s.write(odd, [](File&, Dataset& q) { q.set_attribute("missing_value", -99.99); });
  CHECK(missing(s.read()) == Places{5});
  s.write(std::vector<double>(odd.begin(), odd.end()),
          [](File&, Dataset& q) { q.set_attribute("missing_value", -99.99F); });
  CHECK(missing(s.read()) == Places{5});
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("missing_value", std::vector<double>{3, 7, 7, 11, 1e30}); });
  CHECK(missing(s.read()) == Places{3, 7, 11});
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("missing_value", "4, 5"); });
  CHECK(missing(s.read()) == Places{4, 5});
  s.write(whole(), [](File&, Dataset& q) {
    q.set_attribute("valid_range", std::vector<std::int32_t>{2, 9});
    q.set_attribute("scale_factor", 0.5F);
  });
  CHECK(missing(s.read()) == Places{0, 1, 10, 11});
  CHECK(s.read()[4] == 2.0);
  s.write(real(), [](File&, Dataset& q) { q.set_attribute("valid_min", 1.5), q.set_attribute("valid_max", 9); });
  CHECK(missing(s.read()) == Places{0, 1, 10, 11});
  s.write(bytes(), [](File&, Dataset& q) {
    q.set_attribute("_Unsigned", "true");
    q.set_attribute("_FillValue", std::int8_t{-1});
  });
  CHECK(missing(s.read()) == Places{11});
  CHECK(s.read()[10] == 254.0);
  s.write(whole(), [](File&, Dataset& q) {  // a fill in physical units
    q.set_attribute("scale_factor", 0.1);
    q.set_attribute("missing_value", 0.7);
  });
  CHECK(missing(s.read()) == Places{7});
  auto never = real();
  never[2] = 9.96921e36F;
  s.write(never, [](File&, Dataset&) {});
  CHECK(missing(s.read()) == Places{2});
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("valid_max", 1e9); });
  CHECK(missing(s.read({"q", "", {}, {{0.0, 5.0}, ValidRange::as_file}})) == Places{0, 5});
}

TEST_CASE("attributes that say nothing, or two things", "[messages]") {
  Sample s;
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("_FillValue", 1e20F); });
  CHECK(s.says() ==
        "the _FillValue 1e+20 of 'q' of 'a.h5' is outside the range of the 32-bit integers that the array is stored "
        "in, as ncpdq writes it: which values are missing is unknown; give them (fill: [0]), or set _FillValue "
        "(ncatted) before packing");
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("missing_value", "none"); });
  CHECK(s.says() == "the attribute missing_value of 'q' of 'a.h5' is 'none', expected numbers; correct it (ncatted)");
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("scale_factor", std::vector<double>{1, 2}); });
  CHECK(s.says() == "the attribute scale_factor of 'q' of 'a.h5' has 2 values, expected one number");
  s.write(whole(), [](File&, Dataset& q) { q.set_attribute("valid_range", 3); });
  CHECK(s.says() == "the attribute valid_range of 'q' of 'a.h5' has 1 value(s), expected two");
  s.write(whole(), [](File&, Dataset& q) {
    q.set_attribute("valid_range", std::vector<float>{0, 4});
    q.set_attribute("scale_factor", 0.5F);
  });
  CHECK(s.says() ==
        "the valid range of 'q' of 'a.h5' is in real numbers but its values are packed in 32-bit integers: programs "
        "differ in "
        "whether it holds for stored or for unpacked values; specify which (valid_range: stored, unpacked or ignored)");
  CHECK(missing(s.read({"q", "", {}, {{}, ValidRange::stored}})).size() == 7);
  CHECK(missing(s.read({"q", "", {}, {{}, ValidRange::unpacked}})).size() == 3);
  CHECK(missing(s.read({"q", "", {}, {{}, ValidRange::ignored}})).empty());
  s.write(bytes(), [](File&, Dataset& q) { q.set_attribute("valid_range", std::vector<std::int32_t>{0, 254}); });
  CHECK(s.says() ==
        "the valid range of 'q' of 'a.h5' reaches to 254, which signed bytes do not: set _Unsigned = \"true\" where "
        "its bytes "
        "are unsigned (ncatted), or set valid_range: ignored");
  s.write(real(), [](File& f, Dataset&) { f.write("words", std::vector<std::string>{"a", "b"}); });
  CHECK(s.says({"words", "", {}, {}}) == "'words' of 'a.h5' is not numeric: text, or a compound type");
}

TEST_CASE("times and coordinates that a field refuses", "[messages]") {
  Sample s;
  s.write(real(), [](File& f, Dataset&) { f.remove("time"); });
  CHECK(
      s.says() ==
      "'a.h5' has no array 'time' next to 'q', nor another coordinate of it that measures time: name the times of its "
      "snapshots (time: NAME)");
  s.write(real(), [](File& f, Dataset&) { f.write("Times", std::vector<std::string>{"2000-01-01", "2000-01-31"}); });
  CHECK(s.says({"q", "Times", {}, {}}) ==
        "the times 'Times' of 'a.h5' are text, expected numbers since a date; convert them (cdo copy)");
  s.write(real(), [](File& f, Dataset&) {
    f.write("day", std::vector<float>{20010116.0F, 20010216.0F}).set_attribute("units", "day as %Y%m%d.%f");
  });
  CHECK(s.says({"q", "day", {}, {}}) ==
        "the times 'day' of 'a.h5' are dates such as 20010115 in 32-bit real numbers, which round them by a day; write "
        "them in "
        "64 bits");
  s.write(real(), [](File& f, Dataset&) { f.dataset("time").set_attribute("_FillValue", 30.0); });
  CHECK(s.says() == "the times 'time' of 'a.h5' are missing or not finite at index 1");
  s.write(real(), [](File& f, Dataset&) { f.dataset("lat").set_attribute("_FillValue", 30.0); });
  CHECK(s.says() == "the coordinate 'lat' of 'a.h5' is missing or not finite at index 1; fix the file");
  s.write(real(), [](File&, Dataset&) {});
  const std::string other = s.scratch.file("b.h5");
  auto differ = [&](const std::vector<double>& lat, const std::vector<double>& lon, const char* first,
                    const char* second) {
    File file = File::create(other);
    file.write("q", tensor_of(real().data(), {2, std::ssize(lat), std::ssize(lon)}));
    file.write("time", std::vector<double>{0, 30});
    file.write("y", lat).set_attribute("units", first);
    file.write("x", lon).set_attribute("units", second);
    file.close();
    const Field a = Field::open(s.path, {"q", "", {}, {}}), b = Field::open(other, {"q", "", {"y", "x"}, {}});
    std::string text = message([&] { require_same_axes(b, a, "the mask"); });
    for (auto at = text.find(s.path); at != std::string::npos; at = text.find(s.path))
      text.replace(at, s.path.size(), "a.h5");
    return text;
  };
  CHECK(differ({-30, 30}, {0, 120, 240}, "degrees_north", "degrees_east") == "no error");
  CHECK(differ({30, -30}, {0, 120, 240}, "degrees_north", "degrees_east") ==
        "the mask has y 30 at index 0, where 'a.h5' has -30: they are on other grids, or in another direction; "
        "interpolate "
        "one to the grid of the other (cdo remapbil, cdo invertlat)");
  CHECK(differ({-30.0001, 30}, {0, 120, 240}, "degrees_north", "degrees_east") == "no error");
  CHECK(differ({-29, 31}, {0, 120, 240}, "degrees_north", "degrees_east").find("they are on other grids") !=
        std::string::npos);
  CHECK(differ({0, 120}, {-30, 0, 30}, "degrees_east", "degrees_north") ==
        "the mask has 'y' where 'a.h5' has 'lat': their axes are in another order; transpose one of them (ncpdq -a)");
  CHECK(message([&] { open_container(s.scratch.folder.string()); }).find("it is a folder; name the files in it") !=
        std::string::npos);
}

TEST_CASE("an array in a group is found by its name", "[messages]") {
  Scratch scratch("cf_groups");
  const std::string path = scratch.file("a.h5");
  File file = File::create(path);
  file.write("model/run/b", tensor_of(real().data(), {2, 2, 3}));
  file.write("Q", std::vector<double>{0, 1});
  file.close();
  CHECK(message([&] {
          Field::open(path, {"b", "", {}, {}});
        }) == "'" + path + "' has no array 'b'; did you mean 'model/run/b'?");
  CHECK(message([&] { Field::open(path, {"q", "", {}, {}}); }) == "'" + path + "' has no array 'q'; did you mean 'Q'?");
}

TEST_CASE("scales elsewhere in the file, under several names, and times of any unit", "[field]") {
  Scratch scratch("cf_scales");
  File file = File::create(scratch.file("a.h5"));
  file.write("tasks/b", tensor_of(real().data(), {2, 2, 3}));
  file.write("scales/sim_time", std::vector<double>{0, 0.25}).set_attribute("units", "t_ff");
  file.write("scales/x", std::vector<double>{0.5, 1.5});
  file.write("scales/z", std::vector<double>{1, 2, 4});
  file.attach_scales("tasks/b", {"scales/sim_time", "scales/x", "scales/z"});
  for (const char* name : {"sim_time", "x", "z"}) file.link(std::string("scales/") + name, name);
  file.close();
  const Field field = Field::open(scratch.file("a.h5"), {"tasks/b", "scales/sim_time", {}, {}});
  CHECK(field.time_unit().text == "t_ff");
  CHECK(field.axes()[0].name == "x");
  CHECK(field.axes()[1].values == std::vector<double>{1, 2, 4});
  CHECK(message([&] {
          Field::open(scratch.file("a.h5"), {"tasks/b", "scales/sim_time", {"scales/x", "scales/z", "scales/x"}, {}});
        }) ==
        "3 coordinates are named for the axes of 'tasks/b' of '" + scratch.file("a.h5") + "', which has 2 beside time");
  CHECK(message([&] {
          converted(field.times(), field.time_unit(), time_unit_of("seconds", "", ""), "times of 'b.h5'");
        }) == "times of 'b.h5' are in 't_ff', which gives no common date with 'seconds'; write both since a date");
}

TEST_CASE("latitudes and longitudes along one dimension are points, not axes", "[field]") {
  Scratch scratch("cf_points");
  File file = File::create(scratch.file("a.h5"));
  file.write("q", tensor_of(real().data(), {2, 6}));
  file.write("time", std::vector<double>{0, 1}).set_attribute("units", "days since 2000-01-01");
  const std::vector<double> places{0, 1, 2, 3, 4, 5};
  file.write("cell", places);
  file.write("lat", places).set_attribute("units", "degrees_north");
  file.write("lon", places).set_attribute("units", "degrees_east");
  file.attach_scales("q", {"time", "cell"});
  for (const char* name : {"lat", "lon"}) file.attach_scales(name, {"cell"});
  file.dataset("q").set_attribute("coordinates", "lat lon");
  file.close();
  const Field field = Field::open(scratch.file("a.h5"), {"q", "", {}, {}});
  CHECK(field.axes()[0].name == "cell");
  CHECK(field.axes()[0].role == Role::none);
  CHECK(field.listed(Role::latitude) == "lat");
  CHECK(field.listed(Role::height).empty());
}
