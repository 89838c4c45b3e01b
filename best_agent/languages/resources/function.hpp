// Reads the arguments of a function task, calls the solution between the marks, and writes its result.
// Included before the solution's text, so that the solution's macros cannot reach in here. The input
// format is described in cpp_types.py; it is read strictly: lengths first, nothing missing, nothing over.

#include <bits/stdc++.h>
#include <unistd.h>

namespace best_agent_driver {

constexpr int answer_descriptor = 5;
constexpr int exit_bad_input = 71;

class Input {
public:
    void take(void *to, std::size_t size) {
        auto *target = static_cast<char *>(to);
        while (size > 0) {
            if (position == filled && !refill()) fail("the input ends too early");
            const std::size_t part = std::min(size, filled - position);
            std::memcpy(target, buffer + position, part);
            position += part;
            target += part;
            size -= part;
        }
    }

    std::size_t length() {
        std::uint64_t count;
        take(&count, sizeof count);
        if (count > PTRDIFF_MAX) fail("the input holds an impossible length");
        return count;
    }

    void expect_end() {
        if (position != filled || refill()) fail("the input goes on after the last argument");
    }

    [[noreturn]] static void fail(const char *why) {
        std::fprintf(stderr, "best-agent: %s\n", why);
        std::_Exit(exit_bad_input);
    }

private:
    bool refill() {
        ssize_t count;
        do count = ::read(0, buffer, sizeof buffer);
        while (count < 0 && errno == EINTR);
        if (count < 0) fail("the input cannot be read");
        position = 0;
        filled = static_cast<std::size_t>(count);
        return count > 0;
    }

    char buffer[1 << 16];
    std::size_t position = 0;
    std::size_t filled = 0;
};

inline void decode(Input &input, long long &value) { input.take(&value, sizeof value); }
inline void decode(Input &input, double &value) { input.take(&value, sizeof value); }
inline bool decode_bool(Input &input) {
    unsigned char byte;
    input.take(&byte, 1);
    if (byte > 1) Input::fail("the input holds a bool that is neither true nor false");
    return byte == 1;
}
inline void decode(Input &input, bool &value) { value = decode_bool(input); }
inline void decode(Input &input, std::string &value) {
    value.resize(input.length());
    input.take(value.data(), value.size());
}
// Declared before they are defined, so that they find each other at any nesting.
template <class T> void decode(Input &input, std::vector<T> &value);
template <class A, class B> void decode(Input &input, std::pair<A, B> &value);
template <class... T> void decode(Input &input, std::tuple<T...> &value);

template <class T> void decode(Input &input, std::vector<T> &value) {
    value.resize(input.length());
    if constexpr (std::is_same_v<T, bool>)
        for (std::size_t i = 0; i < value.size(); i++) value[i] = decode_bool(input);
    else if constexpr (std::is_arithmetic_v<T>)
        input.take(value.data(), value.size() * sizeof(T));
    else
        for (T &item : value) decode(input, item);
}
template <class A, class B> void decode(Input &input, std::pair<A, B> &value) {
    decode(input, value.first);
    decode(input, value.second);
}
template <class... T> void decode(Input &input, std::tuple<T...> &value) {
    std::apply([&](T &...parts) { (decode(input, parts), ...); }, value);
}

// Length of the well-formed UTF-8 sequence at `at`, or 0.
inline std::size_t utf8_length(const std::string &text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned lead = byte(at);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    for (std::size_t i = 1; i < size; i++)
        if ((byte(at + i) & 0xC0) != 0x80) return 0;
    const unsigned second = byte(at + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return size;
}

inline void encode_escape(std::string &out, unsigned code) {
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", code);
    out += text;
}

inline void encode(std::string &out, bool value) { out += value ? "true" : "false"; }
inline void encode(std::string &out, long long value) {
    const bool is_big = value >= (1LL << 53) || value <= -(1LL << 53);
    if (!is_big) {
        out += std::to_string(value);
        return;
    }
    char text[40];
    const auto magnitude = value < 0 ? 0ULL - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
    std::snprintf(text, sizeof text, "{\"i\":\"%s0x%llx\"}", value < 0 ? "-" : "", magnitude);
    out += text;
}
inline void encode(std::string &out, double value) {
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "{\"f\":\"nan\"}" : value > 0 ? "{\"f\":\"inf\"}" : "{\"f\":\"-inf\"}";
        return;
    }
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
    // What says that it is no integer.
    if (std::none_of(text, end, [](char c) { return c == '.' || c == 'e'; })) out += ".0";
}
inline void encode(std::string &out, const std::string &value) {
    out += '"';
    for (std::size_t at = 0; at < value.size();) {
        const auto byte = static_cast<unsigned char>(value[at]);
        const std::size_t size = utf8_length(value, at);
        if (size == 0) encode_escape(out, 0xDC00u + byte);  // as Python's surrogateescape: no text equals it
        else if (byte < 0x20 || byte == '"' || byte == '\\') encode_escape(out, byte);
        else out.append(value, at, size);
        at += std::max<std::size_t>(size, 1);
    }
    out += '"';
}
template <class T> void encode(std::string &out, const std::vector<T> &value);
template <class A, class B> void encode(std::string &out, const std::pair<A, B> &value);
template <class... T> void encode(std::string &out, const std::tuple<T...> &value);

template <class T> void encode(std::string &out, const std::vector<T> &value) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); i++) {
        if (i > 0) out += ',';
        if constexpr (std::is_same_v<T, bool>) encode(out, static_cast<bool>(value[i]));
        else encode(out, value[i]);
    }
    out += ']';
}
template <class... T> void encode_parts(std::string &out, const T &...parts) {
    out += "{\"t\":[";
    bool first = true;
    ((out += first ? "" : ",", first = false, encode(out, parts)), ...);
    out += "]}";
}
template <class A, class B> void encode(std::string &out, const std::pair<A, B> &value) {
    encode_parts(out, value.first, value.second);
}
template <class... T> void encode(std::string &out, const std::tuple<T...> &value) {
    std::apply([&](const T &...parts) { encode_parts(out, parts...); }, value);
}

inline void send(const std::string &text) {
    std::fflush(stdout);
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t count = ::write(answer_descriptor, text.data() + sent, text.size() - sent);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) std::_Exit(1);
        sent += static_cast<std::size_t>(count);
    }
    // Nothing that the solution registered for the end is run.
    std::_Exit(0);
}

template <class Result, class Call, class... Parameters, std::size_t... index>
void call_between_marks(void (*begin)(), void (*end)(), Call &call, std::tuple<Parameters...> &arguments,
                        std::index_sequence<index...>) {
    using Given = std::invoke_result_t<Call &, Parameters &...>;
    std::string text;
    if constexpr (std::is_void_v<Result>) {
        begin();
        call(std::get<index>(arguments)...);
        end();
        text = "null";
    } else {
        static_assert(std::is_convertible_v<Given, Result>, "the solution returns another type than the task asks for");
        if constexpr (std::is_convertible_v<Given, Result>) {
            begin();
            // A result handed out by reference is not copied; what is measured is the solution's own.
            auto &&given = call(std::get<index>(arguments)...);
            asm volatile("" : : "r"(__builtin_addressof(given)) : "memory");
            end();
            if constexpr (std::is_same_v<std::decay_t<Given>, Result>) encode(text, given);
            else encode(text, static_cast<Result>(given));
        }
    }
    send(text);
}

template <class Result, class... Parameters, class Call>
int run(void (*begin)(), void (*end)(), Call call) {
    static std::tuple<Parameters...> arguments;
    static Input input;
    std::apply([](Parameters &...each) { (decode(input, each), ...); }, arguments);
    input.expect_end();
    try {
        call_between_marks<Result>(begin, end, call, arguments, std::index_sequence_for<Parameters...>());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "uncaught exception: %s\n", error.what());
    } catch (...) {
        std::fputs("uncaught exception\n", stderr);
    }
    std::fflush(stdout);
    std::_Exit(1);
}

}  // namespace best_agent_driver
