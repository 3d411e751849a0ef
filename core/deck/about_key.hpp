#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/key_error.hpp"
#include "core/deck/expression.hpp"
#include "core/deck/problems.hpp"

namespace cambium::deck {

/// "structure" and "file" are "structure.file"; either may be empty.
std::string joined_key(const std::string& outer, const std::string& inner);

/// Runs `action`, which reads what `key` names (a file, a formula, a part with keys of its own): an InputError of it is
/// one about this key, with `id` where it has none. A KeyError of it stands inside of the key. What says its place
/// already (DeckError) stays as it is.
template <class Action>
std::invoke_result_t<Action> about_key(const char* id, const std::string& key, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const DeckError&) {
    throw;
  } catch (const KeyError& error) {
    throw KeyError(error.id(), joined_key(key, error.key()), error.what(), error.column());
  } catch (const ExpressionError& error) {
    throw KeyError(id, key, error.what(), error.column);
  } catch (const InputError& error) {
    throw KeyError(id, key, error.what());
  }
}

}  // namespace cambium::deck
