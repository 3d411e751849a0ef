#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "core/base/error.hpp"
#include "plugins/superres/equations/equation.hpp"

namespace cambium::superres {
namespace {

using Sum = std::vector<Term>;

/// Combines terms with equal factors.
Sum collected(Sum terms) {
  Sum out;
  for (auto& term : terms) {
    std::sort(term.factors.begin(), term.factors.end());
    const auto same = std::find_if(out.begin(), out.end(), [&](const Term& t) { return t.factors == term.factors; });
    if (same == out.end())
      out.push_back(std::move(term));
    else
      same->coefficient += term.coefficient;
  }
  std::erase_if(out, [](const Term& t) { return t.coefficient == 0.0; });
  return out;
}

Sum plus(Sum a, const Sum& b, double sign) {
  for (auto term : b) {
    term.coefficient *= sign;
    a.push_back(std::move(term));
  }
  return collected(std::move(a));
}

Sum times(const Sum& a, const Sum& b) {
  Sum out;
  for (const auto& left : a)
    for (const auto& right : b) {
      Term term{left.coefficient * right.coefficient, left.factors};
      term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
      out.push_back(std::move(term));
    }
  return collected(std::move(out));
}

/// Differentiates by the product rule.
Sum differentiated(const Sum& sum, int axis) {
  Sum out;
  for (const auto& term : sum)
    for (std::size_t k = 0; k < term.factors.size(); ++k) {
      Term changed = term;
      ++changed.factors[k].order[axis];
      out.push_back(std::move(changed));
    }
  return collected(std::move(out));
}

class Parser {
 public:
  Parser(const std::string& text, const Vocabulary& vocabulary, int number)
      : text_(text), vocabulary_(vocabulary), number_(number) {}

  Equation parse() {
    Sum terms = sum();
    if (accept('=')) terms = plus(std::move(terms), sum(), -1.0);
    if (peek() != '\0') fail(fmt::format("'{}' is not expected here", peek()), at_);
    if (terms.empty()) fail("the equation has no terms", 0);
    return {text_, std::move(terms)};
  }

 private:
  Sum sum() {
    const bool minus = accept('-');
    Sum out = plus({}, product(), minus ? -1.0 : 1.0);
    while (true) {
      if (accept('+'))
        out = plus(std::move(out), product(), 1.0);
      else if (accept('-'))
        out = plus(std::move(out), product(), -1.0);
      else
        return out;
    }
  }

  Sum product() {
    Sum out = power();
    while (true) {
      if (accept('*')) {
        out = times(out, power());
      } else if (accept('/')) {
        const auto at = (peek(), at_);
        const Sum divisor = power();
        if (divisor.size() != 1 || !divisor[0].factors.empty()) fail("only a number or a constant can divide", at);
        out = times(out, {{1.0 / divisor[0].coefficient, {}}});
      } else {
        return out;
      }
    }
  }

  Sum power() {
    const Sum base = primary();
    if (!accept('^')) return base;
    const auto at = (peek(), at_);
    const Sum exponent = primary();
    const double n = exponent.size() == 1 && exponent[0].factors.empty() ? exponent[0].coefficient : -1.0;
    if (n < 1.0 || n > 8.0 || n != std::floor(n)) fail("a power must be a whole number from 1 to 8", at);
    Sum out = base;
    for (int k = 1; k < static_cast<int>(n); ++k) out = times(out, base);
    return out;
  }

  Sum primary() {
    const char c = peek();
    if (accept('(')) {
      Sum inside = sum();
      expect(')');
      return inside;
    }
    if (accept('-')) return plus({}, primary(), -1.0);
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return named();
    fail(c == '\0' ? "a number, a name or '(' is expected at the end" : fmt::format("'{}' is not expected here", c),
         at_);
  }

  Sum number() {
    const char* start = text_.c_str() + at_;
    char* end = nullptr;
    const double value = std::strtod(start, &end);
    if (end == start) fail("a number is expected here", at_);
    at_ += static_cast<std::size_t>(end - start);
    return value == 0.0 ? Sum{} : Sum{{value, {}}};
  }

  Sum named() {
    const auto at = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string name = text_.substr(at, at_ - at);
    if (peek() == '(') return derivative(name, at);
    const auto& fields = vocabulary_.fields;
    if (const auto found = std::find(fields.begin(), fields.end(), name); found != fields.end())
      return {{1.0, {{static_cast<int>(found - fields.begin()), {}}}}};
    if (const auto found = vocabulary_.constants.find(name); found != vocabulary_.constants.end())
      return found->second == 0.0 ? Sum{} : Sum{{found->second, {}}};
    unknown(name, at);
  }

  Sum derivative(const std::string& name, std::size_t at) {
    if (name.size() < 2 || name[0] != 'd')
      fail(fmt::format("'{}' is no derivative; write dt(..), dx(..), dz(..), dxx(..), dxz(..)", name), at);
    std::vector<int> axes;
    for (std::size_t k = 1; k < name.size(); ++k) {
      const auto found =
          std::find_if(Vocabulary::axes.begin(), Vocabulary::axes.end(), [&](const char* a) { return *a == name[k]; });
      if (found == Vocabulary::axes.end())
        fail(fmt::format("'{}' takes a derivative along '{}', but the axes are {}", name, name[k],
                         fmt::join(Vocabulary::axes, ", ")),
             at + k);
      axes.push_back(static_cast<int>(found - Vocabulary::axes.begin()));
    }
    expect('(');
    Sum out = sum();
    expect(')');
    for (int axis : axes) out = differentiated(out, axis);
    for (const auto& term : out)
      for (const auto& factor : term.factors)
        if (factor.order[0] + factor.order[1] + factor.order[2] > 2)
          fail("derivatives beyond the second are not carried; introduce a field for the inner one", at);
    return out;
  }

  [[noreturn]] void unknown(const std::string& name, std::size_t at) const {
    std::string constants;
    for (const auto& [constant, value] : vocabulary_.constants) constants += (constants.empty() ? "" : ", ") + constant;
    fail(fmt::format("'{}' is neither a field ({}) nor a constant ({})", name, fmt::join(vocabulary_.fields, ", "),
                     constants.empty() ? "none is given" : constants),
         at);
  }

  [[noreturn]] void fail(const std::string& problem, std::size_t at) const {
    throw InputError(
        fmt::format("equation {}, column {}: {}\n  {}\n  {:>{}}", number_, at + 1, problem, text_, '^', at + 1));
  }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) { return peek() == c && (++at_, true); }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' is expected here", c), at_);
  }

  const std::string& text_;
  const Vocabulary& vocabulary_;
  int number_;
  std::size_t at_ = 0;
};

}  // namespace

Equation parse_equation(const std::string& text, const Vocabulary& vocabulary, int number) {
  return Parser(text, vocabulary, number).parse();
}

}  // namespace cambium::superres
