#pragma once
#include <string>

#include "core/deck/node.hpp"

namespace cambium::deck {

/// A registered type of kind K named in a deck, with its own keys; Registry::make builds the object.
/// Written {type: name, ...}, or as the bare name when the type needs no keys. K::kind names the kind.
template <class K>
struct Choice {
  std::string type;
  Node node = Node::map({});  ///< the type's own keys, without the one that names the type

  Choice() = default;
  Choice(std::string name) : type(std::move(name)) {}
  Choice(const char* name) : type(name) {}
  Choice(std::string name, Node keys) : type(std::move(name)), node(std::move(keys)) {}
};

}  // namespace cambium::deck
