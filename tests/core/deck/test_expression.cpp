#include <cmath>
#include <numbers>

#include "core/base/units.hpp"
#include "core/deck/expression.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using deck::Expression;
using deck::Variable;

namespace {

const std::vector<Variable> time_and_step{{"t", "ps"}, {"step", ""}};

Expression kelvin(std::string_view text) { return Expression::parse(text, "K", time_and_step); }
double pure(std::string_view text) { return Expression::parse(text, "", {})(std::span<const double>()); }
std::string refusal(std::string_view text, std::string_view unit = "K") {
  try {
    Expression::parse(text, unit, time_and_step);
  } catch (const deck::ExpressionError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("arithmetic follows the usual precedence") {
  CHECK(pure("1 + 2*3") == 7.0);
  CHECK(pure("(1 + 2)*3") == 9.0);
  CHECK(pure("2^3^2") == 512.0);
  CHECK(pure("-2^2") == -4.0);
  CHECK(pure("2^-1") == 0.5);
  CHECK(pure("2*-3") == -6.0);
  CHECK(pure("8/4/2") == 1.0);
  CHECK(pure("1 - 2 - 3") == -4.0);
  CHECK(pure("2.5e1") == 25.0);
  CHECK(pure("+4") == 4.0);
}

TEST_CASE("functions are those of the mathematics") {
  CHECK(pure("sin(pi/6)") == Approx(0.5));
  CHECK(pure("cos(60 deg)") == Approx(0.5));
  CHECK(pure("tan(pi/4)") == Approx(1.0));
  CHECK(pure("exp(log(3))") == Approx(3.0));
  CHECK(pure("sqrt(2)^2") == Approx(2.0));
  CHECK(pure("abs(-3)") == 3.0);
  CHECK(pure("min(2, 1) + max(2, 1)*10") == 21.0);
  CHECK(pure("tanh(0.5)") == Approx(std::tanh(0.5)));
  CHECK(pure("step(-1)*10 + step(0)") == 1.0);
}

TEST_CASE("a ramp needs no units, and means the same with them") {
  CHECK(kelvin("300 + 20*t")(5.0) == 400.0);
  CHECK(kelvin("300 K + 20 K/ps * t")(5.0) == 400.0);
  CHECK(kelvin("300 K + 0.02 K/fs * t")(5.0) == Approx(400.0).epsilon(1e-14));
  CHECK(kelvin("300 + 20 K/ps * t")(5.0) == 400.0);
  CHECK(kelvin("300 K + 20*t")(5.0) == 400.0);
  CHECK(kelvin("300 + 2*(5 [K/fs])*t")(5.0) == Approx(300 + 10000 * 5.0).epsilon(1e-14));
  CHECK(kelvin("300*(1 + tanh(t/10))")(5.0) == Approx(300 * (1 + std::tanh(0.5))));
  CHECK(kelvin("300*sin(t/2 [ps])")(1.0) == Approx(300 * std::sin(0.5)));
  CHECK(kelvin("300*step(t - 2)")(1.9) == 0.0);
  CHECK(kelvin("300*step(t - 2000 fs)")(2.1) == 300.0);
  CHECK(kelvin("300 + 0.5*step")(0.0, 10.0) == 305.0);
  CHECK(kelvin("min(300 + 20*t, 500)")(100.0) == 500.0);
  CHECK(kelvin("sqrt(90000 + (10*t)^2)")(40.0) == 500.0);
  CHECK(kelvin("sqrt((300 K)^2 + (10 K/ps*t)^2)")(40.0) == 500.0);
  CHECK(kelvin("300 mK")(0.0) == 0.3);
}

TEST_CASE("declared units of one dimension but different size are brought together") {
  const std::vector<Variable> t{{"t", "ps"}};
  const double now[] = {3.0};
  CHECK(Expression::parse("2*t", "fs", t)(now) == 6000.0);
  CHECK(Expression::parse("t + 1 ps", "fs", t)(now) == 4000.0);
  CHECK(Expression::parse("1 + 0.5*t", "bar", t)(now) == 2.5);
  CHECK(Expression::parse("1 eV/angstrom^3", "bar", t)(now) == Approx(1.602176634e6).epsilon(1e-12));
  CHECK(Expression::parse("2 eV/angstrom^3/ps*t", "GPa", t)(now) == Approx(6 * 160.2176634).epsilon(1e-12));
  CHECK(Expression::parse("90", "deg", {})(std::span<const double>()) == 90.0);
  CHECK(Expression::parse("0.25 rad", "deg", {})(std::span<const double>()) == Approx(45.0 / std::numbers::pi));
}

TEST_CASE("a constant says so") {
  CHECK(kelvin("300").constant());
  CHECK(kelvin("2*(100 K + 50)").constant());
  CHECK(kelvin("2*(100 K + 50)")(7.0) == 300.0);
  CHECK_FALSE(kelvin("300 + 0*t").constant());
  CHECK(Expression(5.0).constant());
  CHECK(Expression(0.25).text() == "0.25");
  CHECK(kelvin(" 300 + 2*t ").text() == "300 + 2*t");
}

TEST_CASE("three coordinates of a later plugin") {
  const std::vector<Variable> xyz{{"x", "angstrom"}, {"y", "angstrom"}, {"z", "angstrom"}};
  const auto e = Expression::parse("exp(-(x^2 + y^2)/(2*(5 angstrom)^2))*z", "angstrom", xyz);
  const double at[] = {3.0, 4.0, 2.0};
  CHECK(e(at) == Approx(2.0 * std::exp(-0.5)));
}

TEST_CASE("what is wrong is said and pointed at") {
  CHECK(refusal("300 + 20*q") ==
        "there is no variable 'q'; known: t, step\n"
        "    300 + 20*q\n"
        "             ^");
  CHECK(refusal("300 + 20*stp") ==
        "there is no variable 'stp'; did you mean 'step'?\n"
        "    300 + 20*stp\n"
        "             ^");
  CHECK(refusal("300 K + 5 ps") ==
        "cannot add a temperature and a time\n"
        "    300 K + 5 ps\n"
        "          ^");
  CHECK(refusal("300 K - 5 eV") ==
        "cannot subtract a temperature and an energy\n"
        "    300 K - 5 eV\n"
        "          ^");
  CHECK(refusal("min(300 K, t)") ==
        "cannot compare a temperature and a time\n"
        "    min(300 K, t)\n"
        "             ^");
  CHECK(refusal("300*sin(t)") ==
        "sin needs a number without unit, found a time\n"
        "    300*sin(t)\n"
        "        ^");
  CHECK(refusal("5 bar") ==
        "the result is a pressure, expected a temperature (K)\n"
        "    5 bar\n"
        "    ^");
  CHECK(refusal("5 bar", "") ==
        "the result is a pressure, expected a number without unit\n"
        "    5 bar\n"
        "    ^");
  CHECK(refusal("300 + (20*t") ==
        "this '(' is not closed\n"
        "    300 + (20*t\n"
        "          ^");
  CHECK(refusal("300 + ") ==
        "expected a number, a name or '(', found the end\n"
        "    300 + \n"
        "          ^");
  CHECK(refusal("300 $ 2") ==
        "expected an operator or the end, found '$'\n"
        "    300 $ 2\n"
        "        ^");
  CHECK(refusal("20 t") ==
        "expected an operator before 't'\n"
        "    20 t\n"
        "       ^");
  CHECK(refusal("20 barr") ==
        "there is no unit 'barr'; did you mean 'bar'?\n"
        "    20 barr\n"
        "       ^");
  CHECK(refusal("20 [K/eVv]") ==
        "there is no unit 'eVv'; did you mean 'eV'?\n"
        "    20 [K/eVv]\n"
        "        ^");
  CHECK(refusal("300*sine(1)") ==
        "there is no function 'sine'; did you mean 'sin'?\n"
        "    300*sine(1)\n"
        "        ^");
  CHECK(refusal("max(1)") ==
        "max needs two values\n"
        "    max(1)\n"
        "    ^");
  CHECK(refusal("sin(1, 2)") ==
        "sin takes one value\n"
        "    sin(1, 2)\n"
        "         ^");
  CHECK(refusal("300*t^0.5") ==
        "a time to the power 0.5 has no unit\n"
        "    300*t^0.5\n"
        "         ^");
  CHECK(refusal("2^t") ==
        "an exponent must be a number without unit, found a time\n"
        "    2^t\n"
        "      ^");
  CHECK(refusal("1/0") ==
        "the value is not finite\n"
        "    1/0\n"
        "    ^");
  CHECK(refusal("5 Å + q") ==
        "there is no variable 'q'; known: t, step\n"
        "    5 Å + q\n"
        "          ^");
}

TEST_CASE("no text exhausts the parser") {
  CHECK(refusal(std::string(100000, '(')).starts_with("the expression is nested too deeply"));
  CHECK(refusal(std::string(100000, '-')).starts_with("the expression is nested too deeply"));
  std::string towers = "2", sums = "1";
  for (int i = 0; i < 50000; ++i) towers += "^1";
  for (int i = 0; i < 60; ++i) sums = "step + (" + sums + ")";
  CHECK(refusal(towers).starts_with("the expression is nested too deeply"));
  CHECK(refusal(sums, "").starts_with("the expression is nested too deeply"));
}

TEST_CASE("conditions compare, combine and choose") {
  CHECK(pure("1 < 2") == 1.0);
  CHECK(pure("2 < 2") == 0.0);
  CHECK(pure("2 <= 2") == 1.0);
  CHECK(pure("2 > 3") == 0.0);
  CHECK(pure("3 >= 3") == 1.0);
  CHECK(pure("2 == 1 + 1") == 1.0);
  CHECK(pure("2 != 2") == 0.0);
  CHECK(pure("not 1 < 2") == 0.0);
  CHECK(pure("not not 3") == 1.0);
  CHECK(pure("1 < 2 and 3 < 2") == 0.0);
  CHECK(pure("1 < 2 or 3 < 2 and 0") == 1.0);  // 'and' binds tighter
  CHECK(pure("(1 < 2 or 3 < 2) and 0") == 0.0);
  CHECK(pure("2*(1 < 2) + 1") == 3.0);
  CHECK(pure("if(1 > 2, 10, 20)") == 20.0);
  CHECK(pure("if(not 0 and 1<2, if(0, 1, 2), 3)") == 2.0);
  CHECK(kelvin("if(t < 5, 300, 400)")(4.9) == 300.0);
  CHECK(kelvin("if(t < 5, 300, 400)")(5.0) == 400.0);
  CHECK(kelvin("if(t >= 2 and t < 5 or t > 9, 300 + 1*t, 400)")(3.0) == 303.0);
  CHECK(kelvin("if(t >= 2 and t < 5 or t > 9, 300 + 1*t, 400)")(7.0) == 400.0);
  CHECK(kelvin("if(t >= 2 and t < 5 or t > 9, 300 + 1*t, 400)")(10.0) == 310.0);
  CHECK(kelvin("300*(step < 10)")(0.0, 9.0) == 300.0);
}

TEST_CASE("a choice takes nothing from the value that it leaves") {
  CHECK(kelvin("if(t > 0, 300*log(t/1 [ps]), 7)")(-1.0) == 7.0);
  CHECK(kelvin("if(t == 0, 1, 300/t*1 [ps])")(0.0) == 1.0);
  CHECK(kelvin("if(t > 0, 300*sqrt(t/1 [ps]), 300)")(-4.0) == 300.0);
}

TEST_CASE("units of comparisons and choices agree") {
  CHECK(kelvin("if(t < 2000 fs, 300 K, 400 K)")(1.9) == 300.0);
  CHECK(kelvin("if(t < 2000 fs, 300 K, 400)")(2.1) == 400.0);
  CHECK(kelvin("if(2000 fs < t, 300 mK, 400)")(2.1) == Approx(0.3));
  CHECK(refusal("if(t < 5 K, 300, 400)") ==
        "cannot compare a time and a temperature\n"
        "    if(t < 5 K, 300, 400)\n"
        "         ^");
  CHECK(refusal("if(t < 5, 300 K, 4 ps)") ==
        "cannot choose between a temperature and a time\n"
        "    if(t < 5, 300 K, 4 ps)\n"
        "                   ^");
  CHECK(refusal("if(t, 300, 400)") ==
        "if needs a condition, found a time\n"
        "    if(t, 300, 400)\n"
        "       ^");
  CHECK(refusal("300 * (t and 1)") ==
        "and needs a condition, found a time\n"
        "    300 * (t and 1)\n"
        "           ^");
  CHECK(refusal("300 * (1 or t)") ==
        "or needs a condition, found a time\n"
        "    300 * (1 or t)\n"
        "                ^");
  CHECK(refusal("300 * (not t)") ==
        "not needs a condition, found a time\n"
        "    300 * (not t)\n"
        "               ^");
  CHECK(refusal("t < 5") ==
        "the result is a number without unit, expected a temperature (K)\n"
        "    t < 5\n"
        "    ^");
}

TEST_CASE("what is wrong with a condition is said and pointed at") {
  CHECK(refusal("if(0 < t < 5, 1, 2)") ==
        "comparisons are not chained; write 'a < b and b < c'\n"
        "    if(0 < t < 5, 1, 2)\n"
        "             ^");
  CHECK(refusal("if(t = 5, 1, 2)") ==
        "'=' compares nothing; write '=='\n"
        "    if(t = 5, 1, 2)\n"
        "         ^");
  CHECK(refusal("if(t < 5, 1)") ==
        "if needs three values\n"
        "    if(t < 5, 1)\n"
        "    ^");
  CHECK(refusal("if(t < 5, 1, 2, 3)") ==
        "if takes three values\n"
        "    if(t < 5, 1, 2, 3)\n"
        "                  ^");
  CHECK(refusal("if(t < 5 && t > 2, 1, 2)") ==
        "expected an operator or the end, found '&'; write 'and'\n"
        "    if(t < 5 && t > 2, 1, 2)\n"
        "             ^");
  CHECK(refusal("t < 5 && t > 2") ==
        "expected an operator or the end, found '&'; write 'and'\n"
        "    t < 5 && t > 2\n"
        "          ^");
  CHECK(refusal("1 | 2") ==
        "expected an operator or the end, found '|'; write 'or'\n"
        "    1 | 2\n"
        "      ^");
  CHECK(refusal("t < 5 ? 1 : 2") ==
        "expected an operator or the end, found '?'; write if(condition, a, b)\n"
        "    t < 5 ? 1 : 2\n"
        "          ^");
  CHECK(refusal("300 + t**2") ==
        "'**' is no operator; a power is written '^'\n"
        "    300 + t**2\n"
        "           ^");
  CHECK(refusal("t < 5 and") ==
        "expected a number, a name or '(', found the end\n"
        "    t < 5 and\n"
        "             ^");
  std::string deep = "1";
  for (int k = 0; k < 200; ++k) deep = "not " + deep;
  CHECK(refusal(deep).starts_with("the expression is nested too deeply"));
}
