#include "core/deck/alternatives.hpp"

namespace cambium::deck {

namespace {

void find(const Node& node, int within, int alternative, std::vector<Decision>& found) {
  if (node.is_alternatives()) {
    const int mine = static_cast<int>(found.size());
    found.push_back({node, within, alternative});
    for (std::size_t k = 0; k < node.size(); ++k) find(node[k], mine, static_cast<int>(k), found);
    return;
  }
  for (const auto& item : node.items()) find(item, within, alternative, found);
  for (const auto& entry : node.entries()) find(entry.value, within, alternative, found);
}

std::size_t place_of(const Node& list, const std::vector<Decision>& decisions) {
  for (std::size_t k = 0; k < decisions.size(); ++k)
    if (decisions[k].list.path() == list.path()) return k;
  throw InternalError("alternatives at " + list.where() + " are none of the decisions");
}

Node decided(const Node& node, const std::vector<Decision>& decisions, std::span<const int> picks) {
  if (node.is_alternatives()) {
    const auto choice = static_cast<std::size_t>(picks[place_of(node, decisions)]);
    if (choice >= node.size()) throw InternalError("an alternative beyond the last at " + node.where());
    return decided(node[choice], decisions, picks);
  }
  if (node.is_list()) {
    std::vector<Node> items;
    for (const auto& item : node.items()) items.push_back(decided(item, decisions, picks));
    return Node::list(std::move(items), node.mark());
  }
  if (!node.is_map()) return node;
  std::vector<Node::Entry> entries;
  for (const auto& entry : node.entries())
    entries.emplace_back(entry.key, entry.mark, decided(entry.value, decisions, picks));
  return Node::map(std::move(entries), node.mark());
}

}  // namespace

std::vector<Decision> decisions_of(const Node& node) {
  std::vector<Decision> found;
  find(node, -1, 0, found);
  return found;
}

Node pick(const Node& node, const std::vector<Decision>& decisions, std::span<const int> picks) {
  if (picks.size() != decisions.size()) throw InternalError("as many picks as decisions are needed");
  return decided(node, decisions, picks).at_path(node.path());
}

std::vector<std::vector<int>> covering_picks(const std::vector<Decision>& decisions) {
  std::vector<std::vector<int>> out = {std::vector<int>(decisions.size(), 0)};
  for (std::size_t d = 0; d < decisions.size(); ++d)
    for (int k = 0; k < std::ssize(decisions[d].list); ++k) {
      std::vector<int> picks(decisions.size(), 0);
      picks[d] = k;
      for (const Decision* inner = &decisions[d]; inner->within >= 0; inner = &decisions[inner->within])
        picks[inner->within] = inner->alternative;
      out.push_back(std::move(picks));
    }
  return out;
}

}  // namespace cambium::deck
