#include <cctype>

#include "core/plugin/check.hpp"

namespace cambium {

namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

/// How surely a message speaks of a key.
struct Match {
  int score = 0;
  deck::Node node;
  void offer(int s, const deck::Node& n) {
    if (s > score) {
      score = s;
      node = n;
    }
  }
};

constexpr int quoted = 300, path = 200, quoted_key = 100, word = 50;

/// `within`: path from the keys that were asked about, "network.head".
void search(const std::string& message, const deck::Node& node, const std::string& within, Match& best) {
  if (node.is_scalar() && node.text().size() > 2 && message.find("'" + node.text()) != std::string::npos)
    best.offer(quoted + static_cast<int>(node.text().size()), node);
  for (const auto& item : node.items()) search(message, item, within, best);
  for (const auto& entry : node.entries()) {
    const std::string name = within.empty() ? entry.key : within + "." + entry.key;
    const int longer = static_cast<int>(name.size());
    if (message.starts_with(name + ":") || message.starts_with(name + " ")) best.offer(path + longer, entry.value);
    if (message.find("'" + entry.key + "'") != std::string::npos) best.offer(quoted_key + longer, entry.value);
    if (entry.key.size() > 2 && has_word(message, entry.key)) best.offer(word + longer, entry.value);
    search(message, entry.value, name, best);
  }
}

}  // namespace

deck::Node place_of(const std::string& message, const deck::Node& keys) {
  Match best;
  best.node = keys;
  search(message, keys, "", best);
  return best.node;
}

}  // namespace cambium
