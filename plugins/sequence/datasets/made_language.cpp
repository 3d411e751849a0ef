#include "plugins/sequence/datasets/made_language.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::sequence {

static constexpr const char* brackets[2] = {"([{", ")]}"};
/// Random-stream id of the language itself; texts have small ids.
static constexpr std::uint64_t language = ~0ull;

Grammar::Grammar(const Params& params) : params_(params) {
  make_words();
  make_chances();
}

/// Distinct words of 2 to 6 letters.
void Grammar::make_words() {
  const int wanted = params_.classes * params_.words;
  std::set<std::string> known;
  std::vector<std::pair<std::string, int>> made;
  for (std::uint64_t attempt = 0; std::ssize(made) < wanted; ++attempt) {
    if (attempt > 1000000) throw InternalError("synthetic_grammar: too many words for their letters");
    const Random4 shape(params_.seed, Stream::made_samples, language, 2 * attempt),
        letters(params_.seed, Stream::made_samples, language, 2 * attempt + 1);
    std::string word(2 + shape.bits[0] % 5, 'a');
    for (std::size_t k = 0; k < word.size(); ++k)
      word[k] = static_cast<char>('a' + (k < 4 ? letters.bits[k] : shape.bits[k - 3]) % 26);
    word += ' ';
    if (known.insert(word).second) made.emplace_back(word, static_cast<int>(made.size()) / params_.words);
  }
  std::sort(made.begin(), made.end());
  for (const auto& [word, number] : made) {
    words_.push_back(word);
    class_of_.push_back(number);
  }
}

void Grammar::make_chances() {
  const int classes = params_.classes;
  double norm = 0.0;
  for (int k = 0; k < params_.words; ++k) norm += 1.0 / (k + 1);
  for (int c = 0; c < classes; ++c) {
    std::vector<double> of_class(classes, 0.0);
    const Random4 random(params_.seed, Stream::made_samples, language - 1, static_cast<std::uint64_t>(c));
    const double shares[3] = {0.6, 0.3, 0.1};
    for (int k = 0; k < 3; ++k) of_class[random.bits[k] % static_cast<std::uint32_t>(classes)] += shares[k];
    std::vector<int> rank(classes, 0);
    std::vector<double> chance, sums;
    double sum = 0.0;
    for (int number : class_of_) {
      const auto k = static_cast<std::size_t>(number);
      chance.push_back(of_class[k] / norm / ++rank[k]);
      sums.push_back(sum += chance.back());
    }
    chance_.push_back(std::move(chance));
    sums_.push_back(std::move(sums));
  }
}

double Grammar::mass(int c, std::size_t w, std::size_t n) const {
  const auto same = [&](std::size_t other) { return words_[other].compare(0, n, words_[w], 0, n) == 0; };
  std::size_t first = w, last = w + 1;  // sorted: words with the same beginning are neighbours
  while (first > 0 && same(first - 1)) --first;
  while (last < words_.size() && same(last)) ++last;
  const auto& sums = sums_[c];
  return sums[last - 1] - (first > 0 ? sums[first - 1] : 0.0);
}

Grammar::Text Grammar::text(std::uint64_t id, std::int64_t length) const {
  Text out;
  std::string open;
  int last_class = 0;
  const auto add = [&](char byte, double chance) {
    if (std::ssize(out.bytes) == length) return;
    out.bytes.push_back(static_cast<std::uint8_t>(byte));
    out.surprise.push_back(static_cast<float>(-std::log(chance)));
  };
  for (std::uint64_t turn = 0; std::ssize(out.bytes) < length; ++turn) {
    const Random4 random(params_.seed, Stream::made_samples, id, turn);
    const double opens = std::ssize(open) < params_.depth ? params_.open : 0.0,
                 closes = open.empty() ? 0.0 : params_.close;
    const double u = random.uniform(0);
    if (u < opens) {
      open += brackets[1][random.bits[1] % 3];
      add(brackets[0][random.bits[1] % 3], opens / 3.0);
    } else if (u < opens + closes) {
      add(open.back(), closes);
      open.pop_back();
    } else {
      const auto& sums = sums_[last_class];
      auto w = static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), random.uniform(1) * sums.back()) -
                                        sums.begin());
      w = std::min(w, words_.size() - 1);
      double before = sums.back();
      for (std::size_t n = 1; n <= words_[w].size(); ++n) {
        const double with = mass(last_class, w, n);
        add(words_[w][n - 1], with / before * (n == 1 ? 1.0 - opens - closes : 1.0));
        before = with;
      }
      last_class = class_of_[w];
    }
  }
  return out;
}

/// Propagates from byte to byte the probability of being where a word may begin: by depth, class of the last word and
/// position.
double Grammar::entropy(std::int64_t length) const {
  const auto depths = static_cast<std::size_t>(params_.depth) + 1, classes = static_cast<std::size_t>(params_.classes);
  const auto place = [&](std::int64_t at, std::size_t depth, std::size_t c) {
    return (static_cast<std::size_t>(at) * depths + depth) * classes + c;
  };
  std::vector<double> here(static_cast<std::size_t>(length) * depths * classes, 0.0);
  here[0] = 1.0;
  double sum = 0.0;
  const auto count = [&](std::int64_t at, double chance, double conditional) {
    if (at > 0 && at < length && chance > 0.0) sum -= chance * std::log(conditional);
  };
  const auto arrive = [&](std::int64_t at, std::size_t depth, std::size_t c, double chance) {
    if (at < length) here[place(at, depth, c)] += chance;
  };
  for (std::int64_t at = 0; at < length; ++at)
    for (std::size_t depth = 0; depth < depths; ++depth)
      for (std::size_t c = 0; c < classes; ++c) {
        const double p = here[place(at, depth, c)];
        if (p == 0.0) continue;
        const double opens = depth + 1 < depths ? params_.open : 0.0, closes = depth > 0 ? params_.close : 0.0;
        if (opens > 0.0) {
          count(at, p * opens, opens / 3.0);
          arrive(at + 1, depth + 1, c, p * opens);
        }
        if (closes > 0.0) {
          count(at, p * closes, closes);
          arrive(at + 1, depth - 1, c, p * closes);
        }
        for (std::size_t w = 0; w < words_.size(); ++w) {
          const double chance = chance_[c][w] / sums_[c].back() * (1.0 - opens - closes);
          if (chance == 0.0) continue;
          double before = sums_[c].back();
          for (std::size_t n = 1; n <= words_[w].size(); ++n) {
            const double with = mass(static_cast<int>(c), w, n);
            count(at + static_cast<std::int64_t>(n) - 1, p * chance,
                  with / before * (n == 1 ? 1.0 - opens - closes : 1.0));
            before = with;
          }
          arrive(at + static_cast<std::int64_t>(words_[w].size()), depth, static_cast<std::size_t>(class_of_[w]),
                 p * chance);
        }
      }
  return sum / static_cast<double>(length - 1);
}

}  // namespace cambium::sequence
