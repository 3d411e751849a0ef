#pragma once
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace cambium::testing {

/// Draws from the ways to write something: the same for the same seed, on any machine.
class Spelling {
 public:
  explicit Spelling(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool once_in(int n) { return below(n) == 0; }
  std::string one_of(const std::vector<std::string>& words) { return words[below(static_cast<int>(words.size()))]; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t k = items.size(); k > 1; --k) std::swap(items[k - 1], items[below(static_cast<int>(k))]);
  }
  std::string blank() { return one_of({" ", "  ", "\t", " \t "}); }
  std::string maybe_blank() { return once_in(2) ? "" : blank(); }

  /// A number in one of the forms that read as the same double.
  std::string number(double x, bool fortran = false) {
    const char* forms[] = {"%.17g", "%.16e", "%+.17g", "%.17E", "%.18g"};
    char text[64];
    std::snprintf(text, sizeof text, forms[below(5)], x);
    std::string out = text;
    if (x == static_cast<int>(x) && once_in(3))
      std::snprintf(text, sizeof text, "%d%s", static_cast<int>(x), once_in(2) ? "." : ""), out = text;
    if (fortran && once_in(3))
      for (char& c : out)
        if (c == 'e' || c == 'E') c = once_in(2) ? 'd' : 'D';
    return out;
  }

 private:
  std::mt19937 random_;
};

}  // namespace cambium::testing
