#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/sparse/csr.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// A link of a user to an item (bipartite), or of a node to another.
struct Link {
  std::int32_t user = 0, item = 0;
};

/// The links of users and items, or of the nodes of a plain graph, where each node is both user and item. In memory,
/// immutable once created.
struct LinkGraph {
  std::string source;  ///< for messages: a file, or "made"
  bool bipartite = true;
  std::int64_t users = 0, items = 0;  ///< for a plain graph, both are its nodes
  /// users x items, 1 for each link; symmetric for a plain graph, each link in both directions. No link is in two.
  /// `validation`: links for choosing settings that are neither trained on nor predicted; no candidates in the ranking.
  sparse::Csr<float> training, validation, held_out;
  std::int64_t duplicates = 0;           ///< repeated links
  std::int64_t loops = 0;                ///< links of a node to itself, omitted
  std::int64_t not_positive = 0;         ///< links that the source gives a weight of 0 or less
  std::int64_t known = 0;                ///< held-out links that are also in training or validation, omitted
  std::uint64_t fingerprint = 0;         ///< hash of sizes, IDs and training links: equal ones have equal hashes
  Numbering user_numbers, item_numbers;  ///< IDs in the source; for a plain graph both are the same
  std::vector<std::string> notes;        ///< how the source was interpreted, for the log
  /// Items with at least one link, ascending, if there are others; empty: all. Items without links are neither drawn
  /// as negatives nor ranked: nobody could have chosen them, and their embeddings are those that they started with.
  std::vector<std::int32_t> named_items;
  /// Number of items that can be drawn and ranked, and the k-th of them.
  std::int64_t drawable() const { return named_items.empty() ? items : std::ssize(named_items); }
  std::int32_t drawn(std::int64_t k) const {
    return named_items.empty() ? static_cast<std::int32_t>(k) : named_items[k];
  }

  /// Rows of the embedding table: users, then items; for a plain graph, its nodes.
  std::int64_t nodes() const { return bipartite ? users + items : users; }
  /// Row of item 0 in the table.
  std::int64_t first_item() const { return bipartite ? users : 0; }
};

using LinkGraphPtr = std::shared_ptr<const LinkGraph>;

/// Parts of a LinkGraph.
struct LinkParts {
  std::string source;
  bool bipartite = true;
  std::int64_t users = 0, items = 0;     ///< 0: as many as the largest ID requires; `users` for a plain graph
  Numbering user_numbers, item_numbers;  ///< without nodes: from 0
  std::vector<std::string> notes;
  std::int64_t not_positive = 0;  ///< LinkGraph::not_positive
  std::vector<Link> training, validation, held_out;
  /// If held_out is empty: fraction of the links to hold out, drawn by `seed`; a user, or a node of a plain graph,
  /// keeps at least one link.
  double share = 0.0;
  std::uint64_t seed = 1;
};

/// Use of the validation links of a source.
enum class ValidationUse {
  as_given,  ///< those that are also in training stay there; the others are omitted from the ranking
  apart,     ///< all are taken out of training, and omitted from the ranking
  train,     ///< all are trained on, once settings are chosen
  predict    ///< all are taken out of training and held out instead of the test links, to choose settings
};
/// Assigns the validation links of the parts; notes how many of them stay in training.
void use_validation(LinkParts& parts, ValidationUse use);

/// InputError naming the source for users or items that do not exist, and if no training links remain.
LinkGraphPtr make_links(LinkParts parts);

/// User of each link of a matrix, in the order of its entries.
std::vector<std::int32_t> users_of(const sparse::Csr<float>& links);
/// True if a user is linked to an item.
bool linked(const sparse::Csr<float>& links, std::int64_t user, std::int32_t item);

/// Logs one line about the links, and warnings if some were omitted.
void report(const LinkGraph& graph, Log& log);

}  // namespace cambium::graph
