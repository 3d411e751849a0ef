#pragma once
#include <string>
#include <utility>
#include <vector>

#include "surd.hpp"

namespace kinetic_generate {

/// A product of a constant and named factors, the element of every sum that is written out.
struct Term {
  double constant = 1.0;
  std::vector<std::string> factors;
};

/// The text of one kernel and what it costs.
class Code {
 public:
  /// `target op sum of terms;`, where op is "=" or "+=" and target may be a declaration ("const T u3"). Terms of equal
  /// constant share one multiplication, and so do terms that share their last factor. Nothing is written for an empty
  /// sum that is added; an empty assignment writes zero.
  void assign(const std::string& target, const std::string& op, std::vector<Term> terms);
  void line(const std::string& text) { text_ += "    " + text + "\n"; }
  void open(const std::string& signature);
  void close() { text_ += "  }\n"; }
  const std::string& text() const { return text_; }

  int multiplications = 0, additions = 0, nonzeros = 0;
  int flops() const { return multiplications + additions; }

 private:
  std::string text_;
};

std::string at(const std::string& array, int index);
std::string number(double value);  ///< as a pack
std::string scalar(double value);  ///< as a scalar

}  // namespace kinetic_generate
