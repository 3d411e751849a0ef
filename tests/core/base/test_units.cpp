#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("units convert by exact decimals") {
  CHECK(conversion("fs", "ps") == 0.001);
  CHECK(conversion("ps", "fs") == 1000.0);
  CHECK(conversion("nm", "angstrom") == 10.0);
  CHECK(conversion("Å", "angstrom") == 1.0);
  CHECK(conversion("GPa", "bar") == 1e4);
  CHECK(conversion("angstrom/ps", "m/s") == 100.0);
  CHECK(conversion("eV/angstrom^3", "GPa") == Approx(160.2176634).epsilon(1e-12));
  CHECK(conversion("eV/Å^3", "bar") == Approx(1.602176634e6).epsilon(1e-12));
  CHECK(conversion("kcal/mol", "eV") == Approx(0.0433641).epsilon(1e-6));
  CHECK(conversion("g/mol", "amu") == 1.0);
  CHECK(conversion("THz", "1/ps") == 1.0);
  CHECK(conversion("hartree", "eV") == Approx(27.211386245988).epsilon(1e-12));
}

TEST_CASE("units under the symbols of other programs") {
  CHECK(conversion("Ha", "hartree") == 1.0);
  CHECK(conversion("Ha", "Ry") == 2.0);
  CHECK(conversion("mHa", "Ha") == 0.001);
  CHECK(conversion("mRy", "rydberg") == 0.001);
  CHECK(conversion("Ry", "eV") == Approx(13.605693122994).epsilon(1e-12));
  CHECK(conversion("meV", "eV") == 0.001);
  CHECK(conversion("kcal/mol", "kJ/mol") == Approx(4.184).epsilon(1e-15));
  CHECK(conversion("hPa", "Pa") == 100.0);
  CHECK(conversion("bar", "hPa") == 1000.0);
  CHECK(conversion("mbar", "hPa") == 1.0);
}

TEST_CASE("a temperature scale with another zero is refused") {
  for (const std::string scale : {"degC", "°C", "celsius", "Celsius"}) {
    CHECK_THROWS_WITH(conversion(scale, "K"), "'" + scale +
                                                  "' counts from another zero than K and is no factor of it; give K "
                                                  "(K = degC + 273.15)");
  }
  CHECK_THROWS_WITH(conversion("degF", "K"),
                    "'degF' counts from another zero than K and is no factor of it; give K (K = (degF + 459.67)/1.8)");
  CHECK_FALSE(find_unit("degC"));
}

TEST_CASE("values convert without a rounding where a power of ten lies between") {
  for (const double value : {1.1, 14.0, 7.0, 0.3}) {
    CHECK(convert(value, "1/nm", "1/angstrom") == value / 10);
    CHECK(convert(value, "fs", "ps") == value / 1000);
    CHECK(convert(value, "nm", "angstrom") == value * 10);
  }
}

TEST_CASE("products, quotients, powers and parentheses of units") {
  CHECK(unit_of("1/ps").dimension == power(unit_of("ps").dimension, -1));
  CHECK(unit_of("J/(kg K)").dimension == unit_of("m^2 s^-2 K^-1").dimension);
  CHECK(unit_of("angstrom^2 / ps").factor == Approx(1e-8));
  CHECK(unit_of("").dimension.none());
  CHECK(describe(unit_of("eV").dimension) == "energy");
  CHECK(describe(unit_of("m^2/s").dimension) == "length^2/time");
  CHECK(describe(unit_of("1/(K m)").dimension) == "1/(length temperature)");
  CHECK(describe(Dimension{}) == "number without unit");
}

TEST_CASE("a unit that is none is named") {
  std::string problem;
  CHECK_FALSE(parse_unit("pss", &problem));
  CHECK(problem == "there is no unit 'pss'; did you mean 'ps'?");
  CHECK_FALSE(parse_unit("furlongs", &problem));
  CHECK(problem == "there is no unit 'furlongs'");
  // Words for times, which by their letters are nearer to something else.
  for (const auto& [word, unit] : {std::pair{"min", "minute"}, {"h", "hour"}, {"sec", "s"}, {"days", "day"}}) {
    CHECK_FALSE(parse_unit(word, &problem));
    CHECK(problem == std::string("there is no unit '") + word + "'; did you mean '" + unit + "'?");
  }
  CHECK_FALSE(parse_unit("Mib", &problem));
  CHECK(problem == "there is no unit 'Mib'; did you mean 'MiB'?");
  CHECK_FALSE(parse_unit("m/(s", &problem));
  CHECK(problem == "'m/(s' lacks a ')'");
  CHECK_FALSE(parse_unit("m^x", &problem));
  CHECK(problem == "'m^x' lacks a whole number after '^'");
  CHECK_FALSE(parse_unit("m)", &problem));
  CHECK(problem == "'m)' is not a unit");
  CHECK_FALSE(parse_unit("m/", &problem));
  CHECK(problem == "'m/' is not a unit");
  CHECK_THROWS_WITH(conversion("K", "ps"), "K (temperature) does not convert to ps (time)");
  CHECK_THROWS_AS(unit_of("nonsense"), InternalError);
}

TEST_CASE("the nearest word is one that was probably meant") {
  const std::vector<std::string> keys{"timestep", "steps", "temperature", "t"};
  CHECK(nearest("timestpe", keys) == "timestep");
  CHECK(nearest("Time-step", std::vector<std::string>{"time_step"}) == "time_step");
  CHECK(nearest("step", keys) == "steps");
  CHECK_FALSE(nearest("x", keys));
  CHECK_FALSE(nearest("pressure", keys));
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(suggestion("zzz", keys) == "; known: timestep, steps, temperature, t");
}

TEST_CASE("numbers are read whole or not at all, and written to read back") {
  CHECK(parse_number(" 1e-3 ") == 1e-3);
  CHECK(parse_number("+5") == 5.0);
  for (const char* text : {"", "1 fs", "0x10", "inf", "nan", ".", "1e"}) CHECK_FALSE(parse_number(text));
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(300.0) == "300");
  CHECK(parse_number(number_text(1.0 / 3.0)) == 1.0 / 3.0);
}
