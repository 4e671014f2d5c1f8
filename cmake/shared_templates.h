// What every source of ours instantiates of the standard library and of nlohmann-json, compiled once (shared_templates.cpp) where
// nothing is optimised: there each source would compile it again, a tenth of its time. Precompiled before all sources
// (precompiled.cmake). libstdc++ does so itself, for std::string and only up to C++17.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#ifndef ATTNSCOPE_SHARED
#define ATTNSCOPE_SHARED extern template
#endif
#ifdef __GLIBCXX__
namespace std {
ATTNSCOPE_SHARED class basic_string<char>;
ATTNSCOPE_SHARED class basic_string_view<char>;
ATTNSCOPE_SHARED class vector<string>;
ATTNSCOPE_SHARED class _Vector_base<string, allocator<string>>;
ATTNSCOPE_SHARED class set<string>;
ATTNSCOPE_SHARED class _Rb_tree<string, string, _Identity<string>, less<string>>;
ATTNSCOPE_SHARED class map<string, string>;
ATTNSCOPE_SHARED class _Rb_tree<string, pair<const string, string>, _Select1st<pair<const string, string>>, less<string>>;
ATTNSCOPE_SHARED class vector<nlohmann::json>;
ATTNSCOPE_SHARED class _Vector_base<nlohmann::json, allocator<nlohmann::json>>;
ATTNSCOPE_SHARED class map<string, nlohmann::json, less<>>;
ATTNSCOPE_SHARED class _Rb_tree<string, pair<const string, nlohmann::json>, _Select1st<pair<const string, nlohmann::json>>, less<>>;
}  // namespace std
ATTNSCOPE_SHARED class nlohmann::basic_json<>;
#endif
