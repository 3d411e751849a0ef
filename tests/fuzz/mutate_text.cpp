#include <algorithm>
#include <regex>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace fuzz {
namespace {

const std::vector<std::string> numbers{"-1",
                                       "0",
                                       "1",
                                       "-0.0",
                                       "1e18",
                                       "99999999999",
                                       "-99999999999",
                                       "2147483648",
                                       "-2147483648",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "1e308",
                                       "-1e308",
                                       "1e400",
                                       "nan",
                                       "inf",
                                       "-inf",
                                       "1e-320",
                                       "0x10",
                                       "1,5",
                                       "3000000",
                                       "65536",
                                       "1000000000",
                                       "[]",
                                       "{}",
                                       "",
                                       "~"};
const std::string odd = "{}[]:,-#&*!|>'\"%@`?\n\t 01.e+^/()abtK~=$\xc3\x85\xff";

struct Span {
  std::size_t at, size;
};

/// The pieces of a text that match.
std::vector<Span> pieces(const std::string& text, const std::regex& what) {
  std::vector<Span> out;
  for (std::sregex_iterator m(text.begin(), text.end(), what), end; m != end; ++m)
    out.push_back({static_cast<std::size_t>(m->position()), static_cast<std::size_t>(m->length())});
  return out;
}

void change_number(std::string& text, Random& random) {
  static const std::regex number("[-+]?[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?");
  // A long file is mostly its rows; its head is as often asked for.
  const std::size_t head = below(random, 2) ? std::min<std::size_t>(text.size(), 600) : text.size();
  const auto found = pieces(text.substr(0, head), number);
  if (found.empty()) return;
  const Span one = found[below(random, found.size())];
  text.replace(one.at, one.size, numbers[below(random, numbers.size())]);
}

void change_word(std::string& text, Random& random) {
  static const std::regex word("[A-Za-z_]+");
  const std::size_t head = below(random, 2) ? std::min<std::size_t>(text.size(), 2000) : text.size();
  const auto found = pieces(text.substr(0, std::min<std::size_t>(head, 20000)), word);
  if (found.size() < 2) return;
  const Span from = found[below(random, found.size())], to = found[below(random, found.size())];
  text.replace(to.at, to.size, text.substr(from.at, from.size));
}

void change_lines(std::string& text, Random& random) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  if (lines.empty()) return;
  const std::size_t k = below(random, below(random, 2) ? std::min<std::size_t>(lines.size(), 12) : lines.size());
  switch (below(random, 4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(k), lines[k]);
      break;
    case 2:
      std::swap(lines[k], lines[below(random, lines.size())]);
      break;
    default:
      lines.resize(k + 1);
      lines.back().resize(below(random, lines.back().size() + 1));
  }
  text.clear();
  for (const auto& line : lines) text += line;
}

void change_bytes(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  switch (below(random, 4)) {
    case 0:
      text.erase(at, 1 + below(random, 3));
      break;
    case 1:
      text.insert(at, text.substr(below(random, text.size()), below(random, 12)));
      break;
    case 2:
      std::swap(text[at], text[below(random, text.size())]);
      break;
    default:
      text[at] = odd[below(random, odd.size())];
  }
}

}  // namespace

std::string mutate_text(std::string text, Random& random) {
  for (std::size_t edits = 1 + below(random, 3); edits > 0 && !text.empty(); --edits) switch (below(random, 8)) {
      case 0:
      case 1:
      case 2:
        change_number(text, random);
        break;
      case 3:
        change_word(text, random);
        break;
      case 4:
      case 5:
        change_lines(text, random);
        break;
      case 6:
        change_bytes(text, random);
        break;
      default:
        text = mutate_bytes(std::move(text), random);
    }
  return text;
}

std::string mutate_bytes(std::string bytes, Random& random) {
  for (std::size_t edits = 1 + below(random, 3); edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = below(random, below(random, 2) ? std::min<std::size_t>(bytes.size(), 512) : bytes.size());
    const std::size_t size = std::min(bytes.size() - at, std::size_t{1} << below(random, 10));
    switch (below(random, 7)) {
      case 0:
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 2:
        bytes[at] = static_cast<char>(random());
        break;
      case 3:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, below(random, 2) ? '\0' : '\xff');
        break;
      case 4:
        bytes.erase(at, size);
        break;
      case 5:
        bytes.insert(at, bytes.substr(at, size));
        break;
      default:
        if (below(random, 4) == 0) bytes.resize(at);
    }
  }
  return bytes;
}

}  // namespace fuzz
