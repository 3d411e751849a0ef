#include "code.hpp"

#include <cmath>
#include <cstdio>

namespace kinetic_generate {

std::string at(const std::string& array, int index) { return array + "[" + std::to_string(index) + "]"; }

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "T(%.17g)", value);
  return text;
}

std::string scalar(double value) { return "S" + number(value).substr(1); }

void Code::open(const std::string& signature) { text_ += "  " + signature + " {\n"; }

namespace {

std::string product(const std::vector<std::string>& factors) {
  std::string out;
  for (const auto& f : factors) out += (out.empty() ? "" : " * ") + f;
  return out;
}

/// Groups of terms with a common constant (up to its sign), in order of first appearance.
std::vector<std::vector<Term>> by_constant(const std::vector<Term>& terms) {
  std::vector<std::vector<Term>> groups;
  for (const auto& t : terms) {
    bool placed = false;
    for (auto& g : groups)
      if (std::abs(std::abs(g.front().constant) - std::abs(t.constant)) <= 1e-15 * std::abs(t.constant)) {
        g.push_back(t);
        placed = true;
        break;
      }
    if (!placed) groups.push_back({t});
  }
  return groups;
}

}  // namespace

void Code::assign(const std::string& target, const std::string& op, std::vector<Term> terms) {
  if (terms.empty()) {
    if (op == "=") line(target + " = T(0.0);");
    return;
  }
  nonzeros += static_cast<int>(terms.size());
  std::string sum;
  for (auto& group : by_constant(terms)) {
    const double c = group.front().constant;
    std::string inner;
    for (const auto& t : group) {
      const bool minus = (t.constant < 0) != (c < 0);
      inner += (inner.empty() ? "" : minus ? " - " : " + ") + product(t.factors);
      multiplications += static_cast<int>(t.factors.size()) - 1;
    }
    additions += static_cast<int>(group.size()) - 1;
    const bool unit = std::abs(c) == 1.0;
    if (!unit) {
      inner = number(std::abs(c)) + " * " + (group.size() > 1 ? "(" + inner + ")" : inner);
      ++multiplications;
    } else if (group.size() > 1 && c < 0) {
      inner = "(" + inner + ")";
    }
    if (!sum.empty()) ++additions;
    if (op == "+=" && sum.empty()) sum = target;
    sum += sum.empty() ? (c < 0 ? "-" : "") + inner : (c < 0 ? " - " : " + ") + inner;
  }
  if (op == "+=") ++additions;
  line(target + " = " + sum + ";");
}

}  // namespace kinetic_generate
