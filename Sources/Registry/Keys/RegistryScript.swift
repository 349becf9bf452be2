internal import Store

/// The scripts' common parts.
enum RegistryScript {
    /// - Parameter parts: Lua, in order.
    static func make(_ parts: String...) -> Script {
        Script(RegistryKeys.lua + self.common + parts.joined())
    }

    static func call(_ script: Script) -> ScriptCall {
        ScriptCall(script, keys: [RegistryKeys.numbers])
    }

    private static let common = #"""
        local clock = redis.call('TIME')
        local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
        local at = 0
        local function arg()
            at = at + 1
            return ARGV[at]
        end
        local function pairsOf()
            local all = {}
            for i = 1, tonumber(arg()) do
                local name = arg()
                all[i] = { name, arg() }
            end
            return all
        end
        local function optional()
            local given = arg() == '1'
            local value = arg()
            return given and value or nil
        end
        local function text(number) return string.format('%.0f', number) end
        local function number() return text(redis.call('INCR', P .. 'serial')) end
        -- The names in a sorted set after one, and whether there are more.
        local function namesAfter(key, after, limit)
            local from = after == '' and '-' or '(' .. after
            local found = redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit + 1)
            local more = #found > limit
            if more then found[#found] = nil end
            return found, more
        end
        local function withPrefix(map, flat, prefix)
            for i = 1, #flat, 2 do
                if string.sub(flat[i], 1, 1) == prefix then
                    map[#map + 1] = string.sub(flat[i], 2)
                    map[#map + 1] = flat[i + 1]
                end
            end
            return map
        end

        """#
}
