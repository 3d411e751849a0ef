#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/sparse/csr.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Who is linked to what: a user to an item (bipartite), or a node to another.
struct Link {
  std::int32_t user = 0, item = 0;
};

/// The links of users and items, or of the nodes of a plain graph, each of which is a user and an item then. In memory,
/// immutable once made.
struct LinkGraph {
  std::string source;  ///< for messages: a file, or "made"
  bool bipartite = true;
  std::int64_t users = 0, items = 0;  ///< of a plain graph both are its nodes
  /// users x items, 1 for each link; of a plain graph symmetric, a link in both directions. No link is in both.
  sparse::Csr<float> training, held_out;
  std::int64_t duplicates = 0;           ///< links that were given before
  std::int64_t loops = 0;                ///< links of a node with itself, left out
  std::int64_t known = 0;                ///< held-out links that are among those for training, left out
  std::uint64_t fingerprint = 0;         ///< of sizes, numbers and training links: equal ones have equal numbers
  Numbering user_numbers, item_numbers;  ///< what the source calls them; of a plain graph both the same
  std::vector<std::string> notes;        ///< how the source was understood, for the log
  /// Items that some link names, ascending, where there are others; empty: all. What no link names is drawn against
  /// none: nobody could have liked it, so that it would be an easy answer.
  std::vector<std::int32_t> named_items;
  /// How many items can be drawn, and the k-th of them.
  std::int64_t drawable() const { return named_items.empty() ? items : std::ssize(named_items); }
  std::int32_t drawn(std::int64_t k) const {
    return named_items.empty() ? static_cast<std::int32_t>(k) : named_items[k];
  }

  /// Rows of a table of embeddings: users, then items; of a plain graph its nodes.
  std::int64_t nodes() const { return bipartite ? users + items : users; }
  /// Row of item 0 in it.
  std::int64_t first_item() const { return bipartite ? users : 0; }
};

using LinkGraphPtr = std::shared_ptr<const LinkGraph>;

/// Parts.
struct LinkParts {
  std::string source;
  bool bipartite = true;
  std::int64_t users = 0, items = 0;     ///< 0: as many as the largest number says; of a plain graph `users` counts
  Numbering user_numbers, item_numbers;  ///< without nodes: from 0
  std::vector<std::string> notes;
  std::vector<Link> training, held_out;
  /// Where there are no held_out: so many of the links, drawn by `seed`; a user keeps one link at least.
  double share = 0.0;
  std::uint64_t seed = 1;
};

/// InputError naming the source for users or items that are not there, and where nothing is left to train on.
LinkGraphPtr make_links(LinkParts parts);

/// User of every link of a matrix, in the order of its entries.
std::vector<std::int32_t> users_of(const sparse::Csr<float>& links);
/// True if a user is linked to an item.
bool linked(const sparse::Csr<float>& links, std::int64_t user, std::int32_t item);

/// One line about the links, and warnings where some were left out.
void report(const LinkGraph& graph, Log& log);

}  // namespace cambium::graph
