#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::sequence {

/// A synthetic language in which the probability of every next byte is known. Text consists of words, each followed by
/// a blank, and brackets of three kinds around them. A word belongs to one class; the class of the next word depends on
/// that of the last (three can follow each), and the probability of the word within its class is proportional to 1 /
/// rank. Where a word may begin, a bracket may open (up to a depth) or the last one close instead. The next byte thus
/// depends on the class of the last word, the letters since, and the open brackets.
class Grammar {
 public:
  struct Params {
    int classes = 8, words = 16, depth = 2;  ///< words per class; nested brackets
    double open = 0.1, close = 0.25;         ///< probabilities where a word may begin
    std::uint64_t seed = 1;
  };
  explicit Grammar(const Params& params);

  struct Text {
    std::vector<std::uint8_t> bytes;
    std::vector<float> surprise;  ///< nats: -log of the conditional probability of byte k
  };
  /// Text of index `id`: a function of seed and id.
  Text text(std::uint64_t id, std::int64_t length) const;

  /// Mean surprise of bytes 1 to length - 1 of a text, over all texts: nats per byte, exact. A lower bound for any
  /// model.
  double entropy(std::int64_t length) const;

  const std::vector<std::string>& words() const { return words_; }

 private:
  void make_words();
  void make_chances();
  /// Total probability of the words that begin with the first n letters of word w, after a word of class c.
  double mass(int c, std::size_t w, std::size_t n) const;

  Params params_;
  std::vector<std::string> words_;           ///< sorted, a blank at the end of each
  std::vector<int> class_of_;                ///< by word
  std::vector<std::vector<double>> sums_;    ///< by class of the last word: cumulative sums of the words' probabilities
  std::vector<std::vector<double>> chance_;  ///< the probabilities themselves
};

}  // namespace cambium::sequence
