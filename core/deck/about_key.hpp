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

/// Runs `action`, which reads what `key` names, and reports its InputError as one about this key, with `id`. A KeyError
/// thrown by it names a key of `part` ("network", say, which the action creates from the data of `key`). Errors that
/// have their location already (DeckError) pass unchanged.
template <class Action>
std::invoke_result_t<Action> about_key(const char* id, const std::string& key, const std::string& part,
                                       Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const DeckError&) {
    throw;
  } catch (const KeyError& error) {
    throw KeyError(error.id(), joined_key(part, error.key()), error.what(), error.column());
  } catch (const ExpressionError& error) {
    throw KeyError(id, key, error.what(), error.column);
  } catch (const InputError& error) {
    throw KeyError(id, key, error.what());
  }
}

/// The same for an object with keys of its own at `key`: a file, a formula, a potential.
template <class Action>
std::invoke_result_t<Action> about_key(const char* id, const std::string& key, Action&& action) {
  return about_key(id, key, key, std::forward<Action>(action));
}

}  // namespace cambium::deck
